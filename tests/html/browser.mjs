// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// browser.mjs TOOLS chromium|firefox PATH FOLDER SHOTS: looks at the page in FOLDER, with the reports that it must agree with beside it
// (browser.t makes them), and prints TAP. Screenshots are kept in SHOTS. TOOLS: what tests/html/fetch prints.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openBrowser, openPage } from './driver.mjs';
import { done, ok, same } from './tap.mjs';

const [tools, kind, path, folder, shots] = process.argv.slice(2);
const url = pathToFileURL(join(folder, 'page.html')).href;
const axe = readFileSync(join(tools, 'axe-core/axe.min.js'), 'utf8');
const read = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
const [summary, explain, latency] = ['summary', 'explain', 'latency'].map(read);
const sum = (rows, key) => rows.reduce((all, row) => all + row[key], 0);

const browser = await openBrowser({ tools, [kind]: path });
const { page } = browser;
const text = (selector) => page.locator(selector).first().innerText();
const value = async (selector) => Number(await page.locator(selector).first().getAttribute('data-value'));
const status = () => text('#timeline .lanes-status');
// The time line's pixels, two frames later: the page draws in the next frame.
const picture = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() =>
	resolve(document.querySelector('#timeline .axis').toDataURL())))));

// Keeps a screenshot; how many colours are in it, and how much of it is of the commonest one. In the page itself, whose policy allows it: another
// would be in front of it.
async function screenshot(name, options = {}) {
	const png = await page.screenshot(options);

	writeFileSync(join(shots, `${kind}-${name}.png`), png);
	return page.evaluate(async (base64) => {
		const image = new Image();
		image.src = `data:image/png;base64,${base64}`;
		await image.decode();
		const canvas = document.createElement('canvas');
		[canvas.width, canvas.height] = [image.width, image.height];
		const context = canvas.getContext('2d');
		context.drawImage(image, 0, 0);
		const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
		const colours = new Map();
		// most pixels are as the one before
		for (let from = 0, to = 0; from < pixels.length; from = to) {
			while (to < pixels.length && pixels[to] === pixels[from])
				to++;
			colours.set(pixels[from], (colours.get(pixels[from]) ?? 0) + to - from);
		}
		const most = [...colours].reduce((a, b) => b[1] > a[1] ? b : a);
		return { colours: colours.size, ground: most[0] & 255, share: most[1] / pixels.length };
	}, png.toString('base64'));
}

async function findFaults(name) {
	await page.evaluate(axe);
	const { violations, passes } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));

	ok(violations.length === 0 && passes.length > 20, `axe finds nothing: ${name}`, ...violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id}: ${node.target.join(' ')}: ${node.failureSummary}`)));
}

async function checkNumbers() {
	same(await value('#health-window'), summary.recording.window_ns, 'window as in summary');
	same(await value('#health-busy'), sum(summary.cpus, 'run_ns'), 'busy time as in summary');
	same(await value('#health-unknown'), sum(summary.cpus, 'unknown_ns'), 'unknown time as in summary');
	same([await value('#health-lost'), (await text('#health-lost b')).replace('≥ ', '')], [summary.lost.total, String(summary.lost.total)], 'losses as in summary');
	ok((await text('#health-lost')).length > 0 && summary.lost.total > 0, 'the page shows lost events');
	same((await text('#health-events b')).replaceAll(',', ''), String(summary.events), 'events as in summary');
	same(await page.locator('#found-waits-list, .found-main ol').locator('> li > p > a').evaluateAll((links) => links.map((link) => Number(link.dataset.value))),
		explain.waits.map((wait) => wait.wait_ns), 'longest waits as in explain');
	same(await page.locator('.found-main > section > p b').evaluateAll((all) => all.map((one) => Number(one.dataset.value))),
		[explain.all.waits, explain.all.delay_ns], 'all waits as in explain');
	same(await page.locator('#latency .tile').evaluateAll((all) => all.map((one) => Number(one.dataset.value))),
		['count', 'p50_ns', 'p90_ns', 'p99_ns', 'p999_ns', 'max_ns'].map((key) => latency.all[key]), 'latencies as in latency');
	same(await cells('table-cpus', 2), summary.cpus.map(({ run_ns: ns }) => (ns / 1e6).toFixed(3)), "CPUs' run time as in summary");
	same((await cells('table-tasks', 3)).map(Number), summary.tasks.map((task) => Number((task.run_ns / 1e6).toFixed(3))).sort((a, b) => b - a), "tasks' run time as in summary");
}

function cells(id, column) {
	return page.locator(`#${id} tbody td:nth-child(${column})`).allInnerTexts();
}

async function checkNames() {
	const names = summary.tasks.map((task) => task.comm);
	const body = await page.evaluate(() => document.body.textContent);

	ok(names.some((name) => name.includes('</script>')) && names.some((name) => name.includes('<img')), 'there are names that would be markup');
	ok(names.filter((name) => !name.includes('\u001b')).every((name) => body.includes(name)), 'names are there as text');
	ok(!body.includes('\u001b') && body.includes('\\u{1b}'), 'control characters are written out');
	same([await page.locator('img, body b:text-is("x")').count(), await page.locator('script:not([type])').count()], [0, 1], 'and are no markup');
	ok((await text('h1')).includes('<img src=x onerror=alert(1)>'), 'the name of the file is text', await text('h1'));
	ok(body.includes('</script><img src=x onerror=alert(1)>'), 'names of cgroups are text');
}

// Makes the time line so low that lanes alone are in view, follows the link, and returns how far it has scrolled down.
async function scrolledBy(link) {
	const height = (css) => page.evaluate((value) => {
		const lanes = document.querySelector('#timeline .lanes');

		lanes.style.maxHeight = value;
		lanes.scrollTop = 0;
		dispatchEvent(new Event('resize'));
	}, css);

	await height('60px');
	await link.focus();
	await page.keyboard.press('Enter');
	await page.waitForTimeout(100);
	const top = await page.evaluate(() => document.querySelector('#timeline .lanes').scrollTop);
	await height('');
	return top;
}

async function checkLinks() {
	const link = page.locator('#found-waits-list a').first();
	const wait = explain.waits[0];
	const before = await picture();

	await link.focus();
	await page.keyboard.press('Enter');
	await page.waitForFunction((tid) => document.querySelector('#details')?.textContent.includes(`thread ${tid}`), wait.tid);
	ok(await picture() !== before, 'a link of a finding moves the window');
	ok((await text('#details')).includes(`${(wait.wait_ns / 1e6).toPrecision(4).slice(0, 4)}`), 'and selects its wait', await text('#details'), wait.wait_ns);
	ok((await status()).includes(`on CPU ${wait.cpu}`), 'on its CPU', await status());
	ok(await page.evaluate(() => document.activeElement.classList.contains('lanes-canvas')), 'and keys go to the time line');
	ok(await scrolledBy(link) > 0, 'and the row of the waiting task is brought into view');
	same(page.url().includes('#t='), true, 'the address contains the place');
}

async function checkKeys() {
	const first = await status();

	await page.keyboard.press('.');
	const second = await status();
	ok(second !== first, '. goes to the next slice of the task', first, second);
	await page.keyboard.press(',');
	same(await status(), first, ', goes back');
	await page.keyboard.press('Escape');
	await page.keyboard.press('f');
	await page.keyboard.press('f');
	const all = await picture();
	await page.keyboard.press('w');
	const near = await picture();
	ok(near !== all, 'w zooms in');
	await page.keyboard.press('d');
	ok(await picture() !== near, 'd moves');
	await page.keyboard.press('f');
	same(await picture(), all, 'f shows all again');
	await page.keyboard.press('m');
	ok((await status()).startsWith('mark 1'), 'm sets a mark', await status());
	await page.keyboard.press('?');
	ok(await page.locator('#keys').isVisible(), '? shows the keys');
	await screenshot('keys');
	await page.keyboard.press('Escape');
	ok(!await page.locator('#keys').isVisible(), 'Escape hides them');
}

async function checkSearch() {
	await page.keyboard.press('/');
	ok(await page.evaluate(() => document.activeElement.id === 'search'), '/ goes to the search');
	await page.keyboard.type('worker');
	ok((await status()).startsWith('1 of '), 'one task is found', await status());
	await page.keyboard.press('Enter');
	ok((await text('#details h3')).includes('worker'), 'Enter selects a slice of it', await text('#details'));
	await page.keyboard.press('Escape');
	same(await page.locator('#search').inputValue(), '', 'Escape ends it');
}

async function checkMouse() {
	const box = await page.locator('#timeline .lanes-canvas').boundingBox();
	const at = (share) => box.x + 160 + (box.width - 170) * share;

	await page.mouse.click(at(0.4), box.y + 25);
	ok(/on CPU 0/.test(await status()), 'a click selects what is there', await status());
	await page.mouse.move(at(0.2), box.y + 25);
	await page.mouse.down();
	await page.mouse.move(at(0.6), box.y + 25, { steps: 4 });
	await page.mouse.up();
	ok(/^range of/.test(await status()) && await page.locator('#details table').count() === 2, 'dragging selects a range, with its statistics', await status());
}

async function checkTables() {
	const head = page.locator('#table-tasks th').nth(0);

	await head.locator('button').click();
	same(await head.getAttribute('aria-sort'), 'ascending', 'a table sorts by its head');
	const names = await cells('table-tasks', 1);
	same(names, [...names].sort(), 'names in their order');
	await head.locator('button').click();
	same(await cells('table-tasks', 1), names.reverse(), 'and backwards');
	await page.locator('#table-tasks td a').first().click();
	await page.waitForFunction(() => /waited/.test(document.querySelector('.lanes-status').textContent));
	ok(true, 'the longest wait of a task leads to its place');
	const column = page.locator('.course button').nth(10);
	await page.locator('.course button').first().focus();
	for (let i = 0; i < 10; i++)
		await page.keyboard.press('ArrowRight');
	ok(await column.evaluate((button) => button === document.activeElement), 'arrows go along the latencies');
	await page.keyboard.press('Enter');
	await page.waitForFunction(() => /^range of/.test(document.querySelector('.lanes-status').textContent));
	ok(true, 'and Enter to their time');
}

// Filters stand where there is something to filter: tasks of a curve are many on no small recording, pairs of wakers are.
async function checkCurves() {
	const charts = page.locator('#curves canvas');

	ok(await charts.count() >= 1, 'there are curves');
	const [curves, lanes] = await page.evaluate(() => ['#curves .u-over', '#timeline .lanes-canvas'].map((selector) => document.querySelector(selector).getBoundingClientRect()).map(({ left, right }) => ({ left, right })));
	ok(Math.abs(curves.right - lanes.right) <= 2, 'on the time line\'s axis', curves, lanes);
	await page.locator('#curves label', { hasText: 'util' }).first().locator('input').uncheck();
	await page.locator('#curves label', { hasText: 'runnable' }).first().locator('input').check();
	ok((await text('#curves figcaption')).includes('runnable'), 'others can be chosen');
}

async function checkLayout() {
	const boxes = await page.evaluate(() => ['health', 'found', 'timeline', 'curves', 'latency', 'tables'].map((id) => document.getElementById(id).getBoundingClientRect()).map(({ top, bottom }) => ({ top, bottom })));

	ok(boxes.every(({ top, bottom }, i) => bottom > top && (!i || top >= boxes[i - 1].bottom)), 'sections stand below each other', boxes);
	const levels = await page.locator('h1, h2, h3').evaluateAll((heads) => heads.map((head) => Number(head.tagName[1])));
	ok(levels[0] === 1 && levels.every((level, i) => !i || level <= levels[i - 1] + 1), 'headings in order', levels);
}

async function checkWide() {
	await openPage(page, url);
	ok(await page.evaluate(() => document.documentElement.dataset.drawn === '1' && performance.getEntriesByName('first-drawing').length === 1), 'it is drawn');
	await checkLayout();
	const seen = await screenshot('light', { fullPage: true });
	ok(seen.colours > 200 && seen.share < 0.9 && seen.ground > 200, 'light, and not blank', seen);
	await findFaults('light');
	await checkNumbers();
	await checkNames();
	await checkCurves();
	await checkLinks();
	await checkKeys();
	await checkSearch();
	await checkMouse();
	await checkTables();
	await screenshot('selected');
}

async function checkDark() {
	await page.emulateMedia({ colorScheme: 'dark' });
	const seen = await screenshot('dark', { fullPage: true });

	ok(seen.colours > 200 && seen.share < 0.9 && seen.ground < 60, 'dark, and not blank', seen);
	await findFaults('dark, with a selection');
}

async function checkNarrow() {
	await page.setViewportSize({ width: 375, height: 800 });
	await page.goto('about:blank'); // else a link's place is all that changes
	await openPage(page, url);
	same(await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth - document.documentElement.clientWidth]), [375, 0], 'no wider than a phone');
	await checkLayout();
	ok(await page.evaluate(() => document.getElementById('details').getBoundingClientRect().top >= document.getElementById('timeline').getBoundingClientRect().bottom), 'one column');
	const seen = await screenshot('phone', { fullPage: true });
	ok(seen.colours > 200 && seen.share < 0.9, 'and not blank', seen);
	await page.emulateMedia({ colorScheme: 'light' });
	await findFaults('phone');
}

// None of its reports could be made.
async function checkBare() {
	const whole = readFileSync(join(folder, 'page.html'), 'utf8');
	const bare = whole.replace(/"reports":\[[^\]]*\]/, '"reports":[]');

	writeFileSync(join(folder, 'bare.html'), bare);
	await openPage(page, pathToFileURL(join(folder, 'bare.html')).href);
	ok(bare !== whole && !await page.locator('#error').isVisible(), 'a page without reports has no fault', await text('body'));
	ok(/This page has no explanations/.test(await text('#found')), 'and says what it has not');
}

async function checkOldBrowser() {
	await page.addInitScript(() => { delete window.DecompressionStream; });
	await page.goto('about:blank');
	await openPage(page, url);
	ok(await page.locator('#error').isVisible() && (await text('#error')).includes('DecompressionStream'), 'a browser that cannot read it says so', await text('#error'));
	await screenshot('old');
}

let alerts = 0;
page.on('dialog', (dialog) => {
	alerts++;
	dialog.dismiss();
});
try {
	// Firefox cannot be switched to a dark desktop while it runs
	for (const check of kind === 'firefox' ? [checkWide, checkNarrow, checkBare] : [checkWide, checkDark, checkNarrow, checkBare])
		await check();
	same(browser.errors, [], 'nothing on the console');
	await checkOldBrowser();
	same(browser.requests, [], 'no request leaves');
	same(alerts, 0, 'no name runs');
} catch (error) {
	ok(false, 'goes on to the end', String(error?.stack ?? error), ...browser.errors);
} finally {
	await browser.close();
}
done();
