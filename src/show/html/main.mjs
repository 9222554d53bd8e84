// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Puts the page together: opens the data, draws the time line as soon as that can be, then the rest; follows links to places.

import { byId } from './dom.mjs';
import { openSource } from './source.mjs';
import { PartModel } from './model.mjs';
import { Viewport } from './viewport.mjs';
import { Timeline } from './timeline.mjs';
import { Interaction } from './interaction.mjs';
import { showLatency } from './heat.mjs';
import { showCurves } from './curves.mjs';
import { showTables } from './tables.mjs';
import { showFound, showHeld, showRecording } from './sections.mjs';

// Reports that findings are made of.
const FOUND_IN = ['summary', 'explain', 'balance', 'cgroups'];
const LOAD_AFTER_MS = 60;
const ABOUT_NS = 1e6;
// What is asked for on either side of the window, in windows: so that not each move asks again.
const BESIDE = 0.25;

function showError(error) {
	byId('error').hidden = false;
	byId('error').textContent = `${error?.message ?? error}`;
}

// One section that fails is no reason for others not to be there.
async function attempt(act) {
	try {
		return await act();
	} catch (error) {
		showError(error);
		console.warn(error);
		return null;
	}
}

function nextFrame() {
	return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

function whenIdle() {
	return new Promise((resolve) => window.requestIdleCallback ? requestIdleCallback(resolve, { timeout: 500 }) : setTimeout(resolve));
}

class Page {
	constructor() {
		this.source = openSource(document);
		this.head = this.source.head;
		this.viewport = new Viewport(this.head.window_ns);
		this.timeline = new Timeline(byId('timeline'), this.head, this.viewport);
		this.models = new WeakMap();
		this.asked = new WeakMap();
		this.loading = Promise.resolve();
		this.reports = {};
		this.reading = {};
		this.interaction = new Interaction({ timeline: this.timeline, viewport: this.viewport, head: this.head,
			details: byId('details'), search: byId('search'), keys: byId('keys'), load: (at) => this.loadAt(at) });
		this.go = (place) => attempt(() => this.interaction.go(place));
	}

	// Where the time line cannot be, what was found still is. A file has that in front; who serves looks for it while the time line is seen.
	async start() {
		const summary = this.readReport('summary');
		const part = this.source.part(0, this.head.window_ns, this.buckets());

		part.catch(() => {});
		this.tellSlices('reading');
		const shown = attempt(async () => showRecording(this.head, await summary));
		if (!this.head.served)
			await this.showFindings();
		await attempt(async () => this.drawFirst(await part));
		await shown;
		this.viewport.onchange(() => this.loadSoon());
		this.timeline.scroller.addEventListener('scroll', () => this.loadSoon(), { passive: true });
		await Promise.all([this.showReports(), this.readTasks()]);
		window.addEventListener('hashchange', () => this.follow());
		this.follow();
		this.loadSoon();
		document.documentElement.dataset.ready = '1';
	}

	// From what the page holds in front, unless there are so few slices that they are to be seen one by one, or pixels that are many.
	async drawFirst(part) {
		const model = this.modelOf(part);

		this.timeline.addModel(model);
		if (!this.timeline.isDrawnWhole(model))
			await part.complete().catch(() => {}); // told by who needs it
		await nextFrame();
		performance.mark('first-drawing');
		document.documentElement.dataset.drawn = '1';
		await whenIdle();
	}

	async readTasks() {
		const model = await attempt(async () => {
			const part = await this.source.part(0, this.head.window_ns, this.buckets(), 'most');

			await part.complete();
			this.showTasks(part);
			await this.source.end();
			return this.modelOf(part);
		});
		this.tellSlices(model ? 'held' : 'missing');
		if (model)
			await attempt(() => this.readLevels(model));
	}

	// So that no frame waits for a level to be decoded.
	async readLevels(model) {
		for (const level of model.levels) {
			await whenIdle();
			model.level(level);
		}
	}

	// 'reading': what stands behind this script is not all there yet; 'missing': nor will it be; 'held': it is.
	tellSlices(state) {
		this.interaction.slicesAre = state;
		showHeld(this.head, state);
	}

	showTasks(part) {
		const model = this.modelOf(part);

		this.timeline.addModel(model);
		this.interaction.setTasks(this.rankTasks(model));
		showCurves(part, this.viewport, this.head);
	}

	buckets() {
		return Math.min(16384, Math.ceil(this.viewport.width * this.timeline.scale * (1 + 2 * BESIDE)));
	}

	modelOf(part) {
		if (!this.models.has(part))
			this.models.set(part, new PartModel(part, this.head.cpus));
		return this.models.get(part);
	}

	// Of a page that is served any task can have a row: its parts come for those in sight.
	rankTasks(model) {
		const ranked = model.rankTasks();

		if (!this.head.served || !this.reports.summary)
			return ranked;
		return this.reports.summary.tasks.map(({ tid, tgid, comm }) => [tid, tgid ?? 0, comm]);
	}

	// Once each.
	readReport(name) {
		if (this.head.reports.includes(name))
			this.reading[name] ??= attempt(async () => this.reports[name] = await this.source.report(name));
		return this.reading[name] ?? null;
	}

	async showFindings() {
		await Promise.all(FOUND_IN.map((name) => this.readReport(name)));
		this.interaction.explain = this.reports.explain ?? null;
		await attempt(() => showFound(this.head, this.reports, this.go));
	}

	async showReports() {
		if (this.head.served)
			await this.showFindings();
		await Promise.all(this.head.reports.map((name) => this.readReport(name)));
		await attempt(() => showLatency(this.head, this.reports.latency ?? null, this.go));
		await attempt(() => showTables(this.head, this.reports, this.go));
	}

	loadSoon() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => attempt(() => this.load()), LOAD_AFTER_MS);
	}

	// What is in sight, and the slices about a moment, of which a window that is long may have none.
	async loadAt(at) {
		await this.load();
		if (this.timeline.modelAt(at)?.hasSlices)
			return;
		await this.addPart(Math.max(0, at - ABOUT_NS), Math.min(this.viewport.end, at + ABOUT_NS), []);
	}

	// One after the other: what was asked for meanwhile is asked for once, of the window that is in sight by then.
	load() {
		this.loading = this.loading.catch(() => {}).then(() => this.loadWindow());
		return this.loading;
	}

	// Brings what tells more of the window in sight than what is there, if there is such a part.
	async loadWindow() {
		await this.loadPart([]);
		const tids = this.timeline.visibleRows().map(({ task }) => task[0]);
		if (tids.length)
			await this.loadPart(tids);
	}

	// Of CPUs alone a part is there sooner.
	async loadPart(tids) {
		const { from, to, end } = this.viewport;

		if (this.tellsAll(from, to, tids))
			return;
		const beside = this.head.served ? (to - from) * BESIDE : 0;
		this.asked.set(await this.addPart(Math.max(0, from - beside), Math.min(end, to + beside), tids), new Set(tids));
	}

	async addPart(from, to, tids) {
		const part = await this.source.part(from, to, this.buckets(), tids);
		const model = this.modelOf(part);

		await part.complete();
		this.timeline.addModel(model);
		return model;
	}

	tellsAll(from, to, tids) {
		const wanted = this.viewport.nsPerPixel / this.timeline.scale * 2;
		const tells = (m) => m.hasSlices || this.head.served && m.grain <= wanted && tids.every((tid) => this.asked.get(m)?.has(tid));

		return this.timeline.models.some((m) => m.from <= from && m.to >= to && tells(m));
	}

	// #t=FROM,TO&cpu=CPU&tid=TID
	follow() {
		const place = new URLSearchParams(location.hash.slice(1));
		const [from, to] = (place.get('t') ?? '').split(',').map(Number);
		const number = (key) => place.has(key) ? Number(place.get(key)) : undefined;

		if (place.has('t') && to >= from)
			this.go({ from, to, cpu: number('cpu'), tid: number('tid') });
	}
}

window.addEventListener('unhandledrejection', (event) => showError(event.reason));
attempt(() => new Page().start());
