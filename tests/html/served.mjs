// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// served.mjs TOOLS CHROMIUM ADDRESS: the page of a `schedtap view` that runs, in a browser. Prints what came of it as JSON; at the end
// the page is closed.
import { get } from 'node:http';
import { openBrowser, openPage, until } from './driver.mjs';

const [tools, chromium, address] = process.argv.slice(2);
const { origin } = new URL(address);
const { page, errors, requests, close } = await openBrowser({ tools, chromium });
const said = { errors, elsewhere: requests };
const parts = []; // in the order in which they were asked for: how long their windows are, and their status once they have come
let events = 0; // of requests

page.on('request', (request) => {
	const { pathname, searchParams } = new URL(request.url());

	events++;
	if (pathname === '/part')
		parts.push({ request, ns: searchParams.get('to') - searchParams.get('from'), status: null });
});
page.on('requestfinished', async (request) => {
	const part = parts.find((one) => one.request === request);

	if (part)
		part.status = (await request.response()).status();
	events++;
});

// A second page, as the program sees it: it goes on for as long as this is open.
function keepAlive() {
	const token = new URL(said.address).searchParams.get('token');

	return new Promise((resolve, reject) => {
		const request = get(`${origin}/alive`, { headers: { 'X-Token': token } }, (response) => {
			response.on('error', () => {});
			response.once('data', () => resolve(request));
		});
		request.on('error', reject);
	});
}

try {
	await page.context().route((url) => url.origin === origin, (route) => route.continue());
	await page.goto(address);
	await page.waitForFunction(() => document.documentElement.dataset.drawn);
	said.drawn_ms = await page.evaluate(() => performance.getEntriesByName('first-drawing')[0].startTime);
	await page.waitForFunction(() => document.documentElement.dataset.ready);
	said.error = await page.locator('#error').isVisible();
	said.window_ns = JSON.parse(await page.locator('#head').textContent()).window_ns;
	said.address = page.url();

	await page.locator('#timeline').click({ position: { x: 400, y: 40 } });
	// eight steps at once: the part loaded for a step between would be fine enough for all later ones
	await page.evaluate(() => {
		for (let i = 0; i < 8; i++)
			document.dispatchEvent(new KeyboardEvent('keydown', { key: 'w' }));
	});
	await until(() => parts.some(({ ns, status }) => status && ns < said.window_ns / 10), () => events);
	said.parts = parts.filter(({ status }) => status).map(({ ns, status }) => ({ ns, status }));
	said.errors = [...errors];

	const second = await page.context().newPage();
	said.second = [(await second.goto(address)).status(), await second.locator('body').textContent()];
	await second.close();
	// a page that is away for longer than 2 s is taken for closed, and a busy machine may take longer
	const alive = await keepAlive();
	await openPage(page, said.address);
	said.again = await page.evaluate(() => document.documentElement.dataset.ready);
	alive.destroy();
} catch (error) {
	said.failed = String(error);
}
await close();
console.log(JSON.stringify(said));
