// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// served.mjs TOOLS CHROMIUM ADDRESS: the page of a `schedtap view` that runs, in a browser. Prints what came of it as JSON; at the end
// the page is closed.
import { openBrowser, openPage } from './driver.mjs';

const [tools, chromium, address] = process.argv.slice(2);
const { origin } = new URL(address);
const { page, errors, requests, close } = await openBrowser({ tools, chromium });
const said = { errors, elsewhere: requests };
const parts = []; // that came: how long their windows are, and what they took

page.on('requestfinished', async (request) => {
	const { pathname, searchParams } = new URL(request.url());

	if (pathname === '/part')
		parts.push({ ns: searchParams.get('to') - searchParams.get('from'), status: (await request.response()).status(), ms: request.timing().responseEnd });
});

// Until a part of less than `ns` has come.
async function waitForPart(ns) {
	for (let i = 0; i < 200 && !parts.some((part) => part.ns < ns); i++)
		await page.waitForTimeout(100);
}

try {
	await page.context().route((url) => url.origin === origin, (route) => route.continue());
	await page.goto(address);
	await page.waitForFunction(() => document.documentElement.dataset.drawn, null, { timeout: 60000 });
	said.drawn_ms = await page.evaluate(() => performance.getEntriesByName('first-drawing')[0].startTime);
	await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 120000 });
	said.error = await page.locator('#error').isVisible();
	said.window_ns = JSON.parse(await page.locator('#head').textContent()).window_ns;
	said.address = page.url();

	await page.locator('#timeline').click({ position: { x: 400, y: 40 } });
	for (let i = 0; i < 8; i++)
		await page.keyboard.press('w');
	await waitForPart(said.window_ns / 10);
	said.parts = [...parts];
	said.errors = [...errors];

	const second = await page.context().newPage();
	said.second = [(await second.goto(address)).status(), await second.locator('body').textContent()];
	await second.close();
	await openPage(page, said.address);
	said.again = await page.evaluate(() => document.documentElement.dataset.ready);
} catch (error) {
	said.failed = String(error);
}
await close();
console.log(JSON.stringify(said));
