// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// page.mjs TOOLS CHROMIUM PAGE: prints when a page has drawn for the first time, ms from the start of loading it, and how long a frame takes
// while it is zoomed in and out, ms, the median and the longest. TOOLS: the folder that tests/html/fetch prints.
import { pathToFileURL } from 'node:url';
import { openBrowser, openPage } from '../tests/html/driver.mjs';

const [tools, chromium, file] = process.argv.slice(2);
const browser = await openBrowser({ tools, chromium, width: 1400, height: 900 });

// In the page: from a key to the end of the frame that it leads to.
const zoom = async () => {
	const canvas = document.querySelector('#timeline canvas[tabindex]');
	const times = [];

	canvas.focus();
	for (let i = 0; i < 40; i++) {
		const from = performance.now();
		canvas.dispatchEvent(new KeyboardEvent('keydown', { key: i < 20 ? 'w' : 's', bubbles: true, cancelable: true }));
		await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
		times.push(performance.now() - from);
	}
	return times.sort((a, b) => a - b);
};

try {
	await openPage(browser.page, pathToFileURL(file).href);
	const drawn = await browser.page.evaluate(() => performance.getEntriesByName('first-drawing')[0].startTime);
	const times = await browser.page.evaluate(zoom);
	console.log(drawn.toFixed(0), times[times.length / 2].toFixed(0), times.at(-1).toFixed(0));
} finally {
	await browser.close();
}
