// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// beside.mjs TOOLS chromium|firefox PATH FILE: looks at the pages of two machines in FILE (beside.t makes it), and prints TAP.
import { pathToFileURL } from 'node:url';
import { openBrowser, until } from './driver.mjs';
import { done, ok, same } from './tap.mjs';

const [tools, kind, path, file] = process.argv.slice(2);
const LATER_NS = 4e6; // the second recording begins so much later
const browser = await openBrowser({ tools, [kind]: path });
const { page } = browser;

await page.goto(pathToFileURL(file).href);
const frames = () => page.frames().slice(1);
const isReady = (frame) => frame.evaluate(() => document.documentElement.dataset.ready === '1').catch(() => false);
let ready = 0;
const counting = setInterval(async () => {
	ready = (await Promise.all(frames().map(isReady))).filter(Boolean).length;
}, 100);
await until(() => ready === 2, () => ready);
clearInterval(counting);
const [alpha, beta] = frames();

const frame = () => new Promise((resolve) => setTimeout(resolve, 100));

// The time that a page shows, [from, length] in ns from its own recording's start: key r selects it.
async function shown(of) {
	const text = await of.evaluate(() => {
		document.querySelector('#timeline [tabindex]').dispatchEvent(new KeyboardEvent('keydown', { key: 'r', bubbles: true }));
		return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(document.querySelector('#timeline .lanes-status').textContent))));
	});
	const [, length, unit, from] = text.match(/^range of ([\d.]+) (ms|µs) from (-?[\d.][\d. ]*) s$/) ?? [text, NaN, 'ms', 'NaN'];

	return [Math.round(Number(from.replaceAll(' ', '')) * 1e9), Number(length) * { ms: 1e6, 'µs': 1e3 }[unit]];
}

async function agree(name) {
	await frame();
	const [a, b] = [await shown(alpha), await shown(beta)];

	ok(a[1] > 0 && a[1] === b[1] && Math.abs(a[0] - LATER_NS - b[0]) <= 1, name, a, b);
	return a;
}

same(await page.locator('iframe').evaluateAll((all) => all.map(({ title }) => title)), ['alpha', 'beta'], 'a page for each machine');
same(await agree('both show the same time'), [0, 12e6], 'which is that of both recordings');
await alpha.evaluate(() => { location.hash = '#t=4000000,6000000'; });
const near = await agree('the second follows the first');
ok(near[1] < 12e6, 'which shows less now', near);
await beta.evaluate(() => { location.hash = '#t=1000000,1100000'; });
ok((await agree('the first follows the second'))[1] < near[1], 'which shows still less');
await beta.evaluate(() => {
	for (let i = 0; i < 40; i++)
		document.querySelector('#timeline [tabindex]').dispatchEvent(new KeyboardEvent('keydown', { key: 's', bubbles: true }));
});
same((await agree('they agree after zooming out'))[1], 12e6, '... beyond the second recording');
same(browser.errors, [], 'no errors');
same(browser.requests, [], 'nothing is asked for elsewhere');
await browser.close();
done();
