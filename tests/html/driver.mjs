// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Starts a browser for the tests: a new Chromium or Firefox without a network, of which all that it says on its console and all that it
// asks for elsewhere is kept.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];
// A machine that is busy with other tests is slow: so long may nothing happen.
const PATIENCE_MS = 120000;
// The driver's own, for each screenshot by Firefox, which the page's policy refuses.
const REFUSED_STYLE = createHash('sha256').update('body {}').digest('base64');

async function openChromium(driver, executablePath, looks) {
	const folder = mkdtempSync(join(tmpdir(), 'schedtap-browser.'));
	const context = await driver.launchPersistentContext(folder, { executablePath, args: FLAGS, timeout: PATIENCE_MS, ...looks });

	return { context, close: async () => {
		await context.close();
		rmSync(folder, { recursive: true, force: true, maxRetries: 20 }); // some of its processes may still end
	} };
}

// Debian's Firefox is driven by WebDriver BiDi, which sets colour scheme and reduced motion by
// preferences only.
async function openFirefox(driver, executablePath, { viewport, colorScheme, reducedMotion }) {
	const firefoxUserPrefs = { 'ui.systemUsesDarkTheme': Number(colorScheme === 'dark'), 'ui.prefersReducedMotion': Number(reducedMotion === 'reduce') };
	const browser = await driver.launch({ executablePath, channel: 'moz-firefox', timeout: PATIENCE_MS, firefoxUserPrefs });

	return { context: await browser.newContext({ viewport }), close: () => browser.close() };
}

// `tools`: the folder that tests/html/fetch prints. `chromium` or `firefox`: its path. `scheme`: 'light' or 'dark'.
// Gives { page, errors, requests, close }.
export async function openBrowser({ tools, chromium, firefox, width = 1280, height = 900, scheme = 'light', reducedMotion = 'reduce' }) {
	const drivers = createRequire(join(tools, 'x.js'))('./playwright-core');
	const looks = { viewport: { width, height }, colorScheme: scheme, reducedMotion };
	const { context, close } = await (firefox ? openFirefox(drivers.firefox, firefox, looks) : openChromium(drivers.chromium, chromium, looks));
	const page = context.pages()[0] ?? await context.newPage();
	const errors = [];
	const requests = [];

	page.setDefaultTimeout(PATIENCE_MS);
	const keep = (text) => text.includes(REFUSED_STYLE) || errors.push(text);
	page.on('console', (message) => ['error', 'warning'].includes(message.type()) && keep(message.text()));
	page.on('pageerror', (error) => keep(String(error)));
	await context.route('**/*', (route) => {
		const url = route.request().url();
		if (/^(file|data|blob):/.test(url))
			return route.continue();
		requests.push(url);
		return route.abort();
	});
	return { page, errors, requests, close };
}

// Opens a page and waits until all of it is there.
export async function openPage(page, url) {
	await page.goto(url);
	await page.waitForFunction(() => document.documentElement.dataset.ready || !document.getElementById('error').hidden);
}

// Waits until holds() does. progress() gives what changes while there is something to wait for.
export async function until(holds, progress) {
	for (let seen = progress(), since = Date.now(); !holds(); ) {
		await new Promise((resolve) => setTimeout(resolve, 50));
		if (progress() !== seen)
			[seen, since] = [progress(), Date.now()];
		else if (Date.now() - since > PATIENCE_MS)
			throw new Error(`nothing happened for ${PATIENCE_MS / 1000} s where ${holds} was to become so`);
	}
}
