// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// served.mjs TOOLS CHROMIUM ADDRESS: the page of a `schedtap view` that runs, in a browser. Prints what came of it as JSON; at the end
// the page is closed.
import { openBrowser, openPage } from './driver.mjs';

const [tools, chromium, address] = process.argv.slice(2);
const { page, errors, requests, close } = await openBrowser({ tools, chromium });
const said = { errors, elsewhere: requests };
const parts = [];

// Where the window in sight begins and ends, by the last part that came for it.
function windowOf(url) {
	const query = new URL(url).searchParams;

	return Number(query.get('to')) - Number(query.get('from'));
}

try {
	const { origin } = new URL(address);
	await page.context().route((url) => url.origin === origin, (route) => route.continue());
	page.on('response', (response) => {
		if (new URL(response.url()).pathname === '/part')
			parts.push({ url: response.url(), status: response.status(), ms: response.request().timing().responseStart });
	});
	const from = Date.now();
	await openPage(page, address);
	said.ready_ms = Date.now() - from;
	said.drawn_ms = await page.evaluate(() => performance.getEntriesByName('first-drawing')[0].startTime);
	said.error = await page.locator('#error').isVisible();
	said.head = JSON.parse(await page.locator('#head').textContent());
	said.whole = windowOf(parts[0].url);

	await page.locator('#timeline').click({ position: { x: 400, y: 40 } });
	for (let i = 0; i < 8; i++)
		await page.keyboard.press('w');
	await page.waitForTimeout(1500);
	said.zoomed = Math.min(...parts.map(({ url }) => windowOf(url)));
	said.parts = parts;

	const second = await page.context().newPage();
	const refused = await second.goto(address);
	said.second = [refused.status(), await second.locator('body').textContent()];
	await second.close();
	errors.length = 0; // which the browser notes
	await openPage(page, page.url());
	said.again = await page.evaluate(() => document.documentElement.dataset.ready);
} catch (error) {
	said.failed = String(error);
}
await close();
console.log(JSON.stringify(said));
