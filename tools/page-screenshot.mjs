// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// page-screenshot.mjs TOOLS PAGE PNG: what is seen of a page's time line and of a wait that was found on it. TOOLS: the folder that
// tests/html/fetch prints.
import { pathToFileURL } from 'node:url';
import { openBrowser, openPage } from '../tests/html/driver.mjs';

const [tools, page, png] = process.argv.slice(2);
const browser = await openBrowser({ tools, chromium: '/usr/bin/chromium', width: 1280, height: 860 });

try {
	await openPage(browser.page, pathToFileURL(page).href);
	await browser.page.locator('#found a').first().click();
	await browser.page.waitForTimeout(500);
	await browser.page.screenshot({ path: png });
} finally {
	await browser.close();
}
