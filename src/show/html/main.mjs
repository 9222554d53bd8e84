// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Builds the page: opens the data, draws the time line as early as possible and then everything
// else. Follows links to places on the time line.

import { byId } from './dom.mjs';
import { openSource } from './source.mjs';
import { PartModel } from './model.mjs';
import { Viewport } from './viewport.mjs';
import { followOthers } from './follow.mjs';
import { Timeline } from './timeline.mjs';
import { Interaction } from './interaction.mjs';
import { showLatency } from './heat.mjs';
import { showCurves } from './curves.mjs';
import { showTables } from './tables.mjs';
import { showFound, showRecording, showSliceState } from './sections.mjs';

// Reports that the section "What was found" uses.
const FOUND_IN = ['summary', 'explain', 'balance', 'cgroups'];
const LOAD_AFTER_MS = 60;
// To load the slices at a time, load this much before and after it.
const ABOUT_NS = 1e6;
// From a server, load this share of the window's length on either side, too, so that not every move
// needs another request.
const BESIDE = 0.25;

function showError(error) {
	byId('error').hidden = false;
	byId('error').textContent = `${error?.message ?? error}`;
}

// Call act(), and show its error on the page: the other sections are shown even if one of them
// fails.
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
	return new Promise((resolve) =>
		window.requestIdleCallback
			? requestIdleCallback(resolve, { timeout: 500 })
			: setTimeout(resolve)
	);
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
		this.interaction = new Interaction({
			timeline: this.timeline,
			viewport: this.viewport,
			head: this.head,
			details: byId('details'),
			search: byId('search'),
			keys: byId('keys'),
			load: (at) => this.loadAt(at),
		});
		this.go = (place) => attempt(() => this.interaction.go(place));
	}

	// Show the recording, the findings, the time line and the rest. A failure of the time line
	// does not keep the findings from being shown. An HTML file contains the reports before the
	// script, so they come first. A server computes them while the user already sees the time
	// line.
	async start() {
		const summary = this.readReport('summary');
		const part = this.source.part(0, this.head.window_ns, this.buckets());

		part.catch(() => {});
		this.setSliceState('reading');
		const shown = attempt(async () => showRecording(this.head, await summary));
		if (!this.head.served)
			await this.showFindings();
		await attempt(async () => this.drawFirst(await part));
		await shown;
		this.viewport.onchange(() => this.loadSoon());
		this.timeline.scroller.addEventListener('scroll', () => this.loadSoon(), {
			passive: true,
		});
		await Promise.all([this.showReports(), this.readTasks()]);
		window.addEventListener('hashchange', () => this.follow());
		this.follow();
		this.loadSoon();
		followOthers(this.head, this.viewport);
		document.documentElement.dataset.ready = '1';
	}

	// Draw the time line for the first time. In an HTML file the coarse levels of the part,
	// before the script, are mostly enough. If there are few slices or many pixels, they are
	// not: then wait for the whole part.
	async drawFirst(part) {
		const model = this.modelOf(part);

		this.timeline.addModel(model);
		if (!this.timeline.isDrawnWhole(model))
			await part.complete().catch(() => {}); // readTasks() reports it
		await nextFrame();
		performance.mark('first-drawing');
		document.documentElement.dataset.drawn = '1';
		await whenIdle();
	}

	async readTasks() {
		const model = await attempt(async () => {
			const part = await this.source.part(
				0,
				this.head.window_ns,
				this.buckets(),
				'most'
			);

			await part.complete();
			this.showTasks(part);
			await this.source.end();
			return this.modelOf(part);
		});
		this.setSliceState(model ? 'loaded' : 'missing');
		if (model)
			await attempt(() => this.readLevels(model));
	}

	// Decode all levels while the browser is idle, so that no frame has to wait for one.
	async readLevels(model) {
		for (const level of model.levels) {
			await whenIdle();
			model.level(level);
		}
	}

	// Show whether the slices of the page have been loaded: 'reading' (not yet), 'missing'
	// (loading them failed) or 'loaded'.
	setSliceState(state) {
		this.interaction.sliceState = state;
		showSliceState(this.head, state);
	}

	showTasks(part) {
		const model = this.modelOf(part);

		this.timeline.addModel(model);
		this.interaction.setTasks(this.rankTasks(model));
		showCurves(part, this.viewport, this.head);
	}

	buckets() {
		return Math.min(
			16384,
			Math.ceil(this.viewport.width * this.timeline.scale * (1 + 2 * BESIDE))
		);
	}

	modelOf(part) {
		if (!this.models.has(part))
			this.models.set(part, new PartModel(part, this.head.cpus));
		return this.models.get(part);
	}

	// Return the tasks that can have a row. With a server these are all tasks, since it sends
	// the rows of the visible ones.
	rankTasks(model) {
		const ranked = model.rankTasks();

		if (!this.head.served || !this.reports.summary)
			return ranked;
		return this.reports.summary.tasks.map(({ tid, tgid, comm }) => [
			tid,
			tgid ?? 0,
			comm,
		]);
	}

	// Read a report, but only once. Return a promise of it, or null if the page does not have
	// it.
	readReport(name) {
		if (this.head.reports.includes(name))
			this.reading[name] ??= attempt(
				async () => (this.reports[name] = await this.source.report(name))
			);
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

	// Load the data of the window. If it has no slices at the time `at`, since the window is
	// long, load the slices near that time, too.
	async loadAt(at) {
		await this.load();
		if (this.timeline.modelAt(at)?.hasSlices)
			return;
		await this.addPart(
			Math.max(0, at - ABOUT_NS),
			Math.min(this.viewport.end, at + ABOUT_NS),
			[]
		);
	}

	// Load the data of the window after the loads that are already queued. Each of them uses
	// the window as it is when it begins, so only the first one has to load something for it.
	load() {
		this.loading = this.loading.catch(() => {}).then(() => this.loadWindow());
		return this.loading;
	}

	// Load more detailed data of the window, if there is any: first for the CPUs alone, since
	// that is there sooner, then for the visible rows of tasks.
	async loadWindow() {
		await this.loadPart([]);
		const tids = this.timeline.visibleRows().map(({ task }) => task[0]);
		if (tids.length)
			await this.loadPart(tids);
	}

	// Load a part for the window with the rows of `tids`, unless the parts that were loaded
	// suffice.
	async loadPart(tids) {
		const { from, to, end } = this.viewport;

		if (this.isLoaded(from, to, tids))
			return;
		const beside = this.head.served ? (to - from) * BESIDE : 0;
		this.asked.set(
			await this.addPart(
				Math.max(0, from - beside),
				Math.min(end, to + beside),
				tids
			),
			new Set(tids)
		);
	}

	async addPart(from, to, tids) {
		const part = await this.source.part(from, to, this.buckets(), tids);
		const model = this.modelOf(part);

		await part.complete();
		this.timeline.addModel(model);
		return model;
	}

	// Whether the parts that were loaded suffice for [from, to]: one of them covers it with
	// slices or, from a server, with buckets of at most two device pixels and the rows of
	// `tids`.
	isLoaded(from, to, tids) {
		const wanted = (this.viewport.nsPerPixel / this.timeline.scale) * 2;
		const suffices = (m) =>
			m.hasSlices ||
			(this.head.served &&
				m.grain <= wanted &&
				tids.every((tid) => this.asked.get(m)?.has(tid)));

		return this.timeline.models.some(
			(m) => m.from <= from && m.to >= to && suffices(m)
		);
	}

	// Go to the place in the page's address: #t=FROM,TO&cpu=CPU&tid=TID, with times in ns from
	// the origin.
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
