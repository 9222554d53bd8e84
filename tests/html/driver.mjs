// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Starts a browser for the tests: a new Chromium without a network, of which all that it says on its console and all that it asks
// for elsewhere is kept.
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];
// A machine that is busy with other tests is slow.
const PATIENCE_MS = 120000;

// `tools`: the folder that tests/html/fetch prints. `scheme`: 'light' or 'dark'. Gives { page, errors, requests, close }.
export async function openBrowser({ tools, chromium, width = 1280, height = 900, scheme = 'light', reducedMotion = 'reduce' }) {
	const { chromium: driver } = createRequire(join(tools, 'x.js'))('./playwright-core');
	const folder = mkdtempSync(join(tmpdir(), 'schedtap-browser.'));
	const context = await driver.launchPersistentContext(folder, { executablePath: chromium, args: FLAGS, viewport: { width, height },
		colorScheme: scheme, reducedMotion, timeout: PATIENCE_MS });
	const page = context.pages()[0] ?? await context.newPage();
	const errors = [];
	const requests = [];

	page.setDefaultTimeout(PATIENCE_MS);
	page.on('console', (message) => ['error', 'warning'].includes(message.type()) && errors.push(message.text()));
	page.on('pageerror', (error) => errors.push(String(error)));
	await context.route('**/*', (route) => {
		const url = route.request().url();
		if (/^(file|data|blob):/.test(url))
			return route.continue();
		requests.push(url);
		return route.abort();
	});
	return {
		page, errors, requests,
		close: async () => {
			await context.close();
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

// Opens a page and waits until all of it is there.
export async function openPage(page, url) {
	await page.goto(url);
	await page.waitForFunction(() => document.documentElement.dataset.ready || !document.getElementById('error').hidden);
}
