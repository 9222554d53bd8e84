// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// perfetto-screenshot.mjs TOOLS UI TRACE PNG: what the Perfetto UI shows of a trace first. TOOLS: the folder that tests/html/fetch prints; UI: the one
// of tools/perfetto-ui, which takes the trace from where the page says.
import { createServer } from 'node:http';
import { readFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';

const [tools, ui, trace, png] = process.argv.slice(2);
const { chromium } = createRequire(join(tools, 'x.js'))('./playwright-core');
const TYPES = { '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.html': 'text/html', '.woff2': 'font/woff2' };
const pageFor = (host) => `<!doctype html><link rel="stylesheet" href="/perfetto.css"><style>html:root { --track-shell-width: 220px; }</style><body style="margin:0"><div id="timeline_data_source" hidden>http://${host}/trace</div>
<main id="timeline_main" style="position:absolute;inset:0"></main><script src="/frontend_bundle.js"></script>`;

// This build of the UI leaves out what a track is called.
const withNames = (script) => script.replace('ondrop: this.ondrop.bind(this),\n        });',
	"ondrop: this.ondrop.bind(this),\n        }, mithril('h1', { style: 'font-size: 12px; padding: 4px' }, attrs.trackState.name));");

function answer(request, response) {
	const path = request.url.split('?')[0];
	const file = path === '/trace' ? trace : join(ui, path);

	if (path !== '/' && !existsSync(file)) {
		response.statusCode = 404;
		return response.end();
	}
	response.setHeader('content-type', TYPES[path === '/' ? '.html' : extname(file)] ?? 'application/octet-stream');
	if (path === '/frontend_bundle.js')
		return response.end(withNames(readFileSync(file, 'utf8')));
	return response.end(path === '/' ? pageFor(request.headers.host) : readFileSync(file));
}

const server = createServer(answer);
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
	const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });

	await page.goto(`http://127.0.0.1:${server.address().port}/`);
	await page.waitForSelector('.track-group-panel', { timeout: 120000, state: 'attached' });
	// how far it is stands where a search is typed
	await page.waitForFunction(() => ![...document.querySelectorAll('input')].some((input) => /Loading/.test(input.placeholder + input.value)) &&
		!/Loading/.test(document.body.innerText), null, { timeout: 240000, polling: 1000 });
	await page.waitForTimeout(2000);
	await page.screenshot({ path: png });
} finally {
	await browser.close();
	server.close();
}
