// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// slow.mjs TOOLS CHROMIUM PAGE: what a page is before all of it has come, and where the rest never comes. Prints TAP. TOOLS: what
// tests/html/fetch prints.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { openBrowser, openPage } from './driver.mjs';
import { done, ok } from './tap.mjs';

const [tools, chromium, file] = process.argv.slice(2);
const whole = readFileSync(file, 'latin1');
const script = whole.indexOf('</script>', whole.indexOf('new Page().start()')) + '</script>'.length;
const pieces = [...whole.matchAll(/<script type="text\/plain" class="part" id="part-0-\d+">/g)].map(({ index }) => index).filter((at) => at > script);
const zoomed = 'wwwwwwww'; // keys

// /N: the first N bytes; /N-: these, and the others when they are let go.
const held = [];
const server = createServer((request, response) => {
	const [, bytes, waits] = /^\/(\d+)(-?)$/.exec(request.url) ?? [];

	if (bytes === undefined)
		return response.writeHead(404).end();
	response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
	response.write(whole.slice(0, bytes), 'latin1');
	if (waits)
		held.push(() => response.end(whole.slice(bytes), 'latin1'));
	else
		response.end();
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await openBrowser({ tools, chromium });
const { page } = browser;
const text = (selector) => page.locator(selector).first().innerText();
const until = (what) => page.waitForFunction((key) => document.documentElement.dataset[key], what);

// All that is on the canvas of lanes, once it was drawn.
const picture = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() =>
	resolve(document.querySelector('#timeline .lanes-canvas').toDataURL())))));

async function press(keys) {
	await page.locator('#timeline .lanes-canvas').focus();
	for (const key of keys)
		await page.keyboard.press(key);
	return picture();
}

async function checkSlow() {
	await openPage(page, `${origin}/${whole.length}`);
	const wanted = await press(zoomed);

	await page.goto(`${origin}/${pieces[1] + 1000}-`, { waitUntil: 'commit' });
	await until('drawn');
	ok(/being loaded/.test(await text('#holds')), 'before all has come, the page says so', await text('#holds'));
	ok((await text('#found')).includes('waited'), 'what was found is there');
	const early = await press(zoomed);
	ok(early !== wanted, 'zoomed in, levels are drawn');
	await page.locator('#timeline .lanes-canvas').click({ position: { x: 400, y: 20 } });
	ok(/being loaded/.test(await text('#details')), 'the details say that slices are being loaded', await text('#details'));
	await page.mouse.move(0, 0);
	ok(!await page.evaluate(() => document.documentElement.dataset.ready), 'it is not ready');
	held.pop()();
	await until('ready');
	ok(await picture() === wanted, 'when the rest has come, slices are drawn where it was zoomed in');
	ok(/^all [\d,]+ slices are in this report$/.test(await text('#holds')), 'and the page says that it has them', await text('#holds'));
	ok(!await page.locator('#error').isVisible(), 'without an error');
}

async function checkCut() {
	for (const [where, bytes] of [['after the script', script], ['between pieces', pieces[1]], ['within a piece', pieces[1] + 1001], ['within the last', whole.lastIndexOf('</script>') - 5]]) {
		await openPage(page, `${origin}/${bytes}`);
		await until('ready');
		ok(/this page is cut off/.test(await text('#error')), `cut off ${where}: the page says so`, await text('#error'));
		ok(/could not be loaded/.test(await text('#holds')), 'and what is missing', await text('#holds'));
		ok((await text('#found')).includes('waited') && await press('f') !== await press(zoomed), 'the rest is there');
	}
	await page.goto(`${origin}/${script - 100}`);
	ok(/cut off/.test(await text('#health')), 'cut off within the script: the page says so', await text('body'));
}

try {
	await page.context().route((url) => url.origin === origin, (route) => route.continue());
	ok(pieces.length > 1, 'slices follow the script, in pieces');
	await checkSlow();
	await checkCut();
} catch (error) {
	ok(false, 'goes on to the end', String(error?.stack ?? error), ...browser.errors);
} finally {
	await browser.close();
	server.closeAllConnections();
	server.close();
}
done();
