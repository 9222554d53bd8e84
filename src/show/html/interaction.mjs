// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Handles keys, mouse and touch on the time line. Most keys are those of Perfetto. Everything can
// be done with keys alone.

import { findTasks } from './model.mjs';
import { element } from './dom.mjs';
import { showHint, showRangeDetails, showSliceDetails, sliceText, taskText } from './details.mjs';
import { formatMoment, formatNs } from './viewport.mjs';

// A short press of a motion key moves for this long; a longer one moves until the key is released.
const TAP_MS = 130;
const ZOOM_PER_S = 6;
const WINDOWS_PER_S = 1.4;
const CLICK_PIXELS = 4;
const NEAR_PIXELS = 4;
const MOST_WOKEN = 50;
const WHEEL_ZOOM = 0.0022;

const MOTIONS = {
	w: { zoom: -1 },
	s: { zoom: 1 },
	a: { pan: -1 },
	d: { pan: 1 },
	ArrowLeft: { pan: -1 },
	ArrowRight: { pan: 1 },
};
const KEYS = [
	['W S', 'zoom in, out'],
	['A D', 'move left, right'],
	['← →', 'the same, on the time line'],
	['↑ ↓', 'slice of the CPU above, below'],
	['[ ]', 'previous, next slice of the CPU'],
	[', .', 'previous, next slice of the task'],
	['F', 'fit the selection; again: all'],
	['R', 'select the visible range'],
	['M', 'set a mark'],
	['/', 'search tasks; Enter: their next slice'],
	['Esc', 'select nothing; again: remove marks'],
	['?', 'these keys'],
	['click', 'what it was, and why'],
	['drag', 'select a range'],
	['Ctrl wheel', 'zoom'],
	['Shift wheel, Shift drag', 'move'],
];

// Say why slices are missing, or how the user gets to see them.
function moreSlices({ served, slices }, state) {
	return served ? 'zoom in further'
		: state === 'reading' ? 'they are still being loaded'
		: state === 'missing' ? 'they could not be loaded'
		: `this report has ${slices.held} of ${slices.of} slices; schedtap view shows all`;
}

export class Interaction {
	constructor({ timeline, viewport, head, details, search, keys, load }) {
		Object.assign(this, { timeline, viewport, head, details, search, keys, load });
		this.explain = null;
		this.sliceState = 'reading'; // set by Page.setSliceState()
		this.tasks = [];
		this.pressed = new Map(); // motion keys
		this.pointers = new Map();
		this.drag = null;
		this.act = {
			select: (model, slice) => this.select(model, slice, true),
			step: (n) => this.step(n),
			fit: () => this.fit(),
		};
		this.listen();
		this.hint();
	}

	listen() {
		const { canvas, axis } = this.timeline;

		document.addEventListener('keydown', (event) => this.keyDown(event));
		document.addEventListener('keyup', (event) => this.keyUp(event.key));
		window.addEventListener('blur', () => this.pressed.clear());
		for (const target of [canvas, axis]) {
			target.addEventListener(
				'wheel',
				(event) => this.wheel(event, target === axis),
				{ passive: false }
			);
			target.addEventListener('pointerdown', (event) =>
				this.pointerDown(event, target === axis)
			);
			target.addEventListener('pointermove', (event) => this.pointerMove(event));
			target.addEventListener('pointerup', (event) => this.pointerUp(event));
			target.addEventListener('pointercancel', (event) =>
				this.pointerGone(event)
			);
			target.addEventListener('pointerleave', () => this.point(null));
		}
		this.search.addEventListener('input', () => this.find());
		this.search.addEventListener('keydown', (event) => this.searchKey(event));
	}

	hint() {
		showHint(
			this.details,
			'Click a slice to see who it was and why it waited. Drag to select a range. Press ? for keys.'
		);
	}

	say(text) {
		this.timeline.status.textContent = text;
	}

	// Set the tasks that can have a row. A search shows only those that it found.
	setTasks(tasks) {
		this.tasks = tasks;
		this.find();
	}

	// Keys

	keyDown(event) {
		if (
			event.ctrlKey ||
			event.metaKey ||
			event.altKey ||
			isTyping(event.target) ||
			this.keys.open
		)
			return;
		const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
		const focused = document.activeElement === this.timeline.canvas;
		const handled =
			key.startsWith('Arrow') && !focused
				? false
				: this.startMotion(key) || this.command(key);

		if (handled)
			event.preventDefault();
	}

	command(key) {
		const commands = {
			f: () => this.fit(),
			m: () => this.mark(),
			r: () => this.selectRange(this.viewport.from, this.viewport.to),
			'.': () => this.step(1),
			',': () => this.step(-1),
			']': () => this.along(1),
			'[': () => this.along(-1),
			ArrowDown: () => this.across(1),
			ArrowUp: () => this.across(-1),
			Escape: () => this.clear(),
			'/': () => this.search.focus(),
			'?': () => this.showKeys(),
		};

		if (!Object.hasOwn(commands, key))
			return false;
		commands[key]();
		return true;
	}

	startMotion(key) {
		if (!Object.hasOwn(MOTIONS, key))
			return false;
		if (matchMedia('(prefers-reduced-motion: reduce)').matches)
			this.move(MOTIONS[key], TAP_MS);
		else if (!this.pressed.has(key)) {
			this.pressed.set(key, { since: performance.now(), released: false });
			if (this.pressed.size === 1)
				this.animate(performance.now());
		} else
			this.pressed.get(key).released = false;
		return true;
	}

	keyUp(name) {
		const motion = this.pressed.get(name.length === 1 ? name.toLowerCase() : name);

		if (motion)
			motion.released = true;
	}

	animate(before) {
		requestAnimationFrame(() => {
			const now = performance.now();

			for (const [key, { since, released }] of this.pressed) {
				const until = released
					? Math.min(now, Math.max(before, since + TAP_MS))
					: now;
				this.move(MOTIONS[key], until - before);
				if (released && now >= since + TAP_MS)
					this.pressed.delete(key);
			}
			if (this.pressed.size)
				this.animate(now);
		});
	}

	move({ zoom = 0, pan = 0 }, ms) {
		if (zoom)
			this.viewport.zoom(
				Math.exp((zoom * ZOOM_PER_S * ms) / 1000),
				this.zoomPixel()
			);
		if (pan)
			this.viewport.pan(pan * WINDOWS_PER_S * this.viewport.width * ms / 1000);
	}

	// Return the pixel that stays where it is while keys zoom: the pointer's, else that of the
	// selected slice's beginning if it is visible, else the middle of the window.
	zoomPixel() {
		const { viewport, timeline } = this;
		const { selected, hover } = timeline;
		const at = hover ?? (selected ? selected.model.slices.start[selected.slice] : null);

		return at !== null && at >= viewport.from && at <= viewport.to
			? viewport.toPixel(at)
			: viewport.width / 2;
	}

	// Mouse and fingers

	place(event) {
		const box = this.timeline.canvas.getBoundingClientRect();

		return { x: event.clientX - box.left, y: event.clientY - box.top };
	}

	wheel(event, onAxis) {
		const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
		const sideways = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;

		if (
			event.ctrlKey ||
			event.metaKey ||
			(onAxis && Math.abs(event.deltaY) > Math.abs(event.deltaX))
		)
			this.viewport.zoom(
				Math.exp(event.deltaY * unit * WHEEL_ZOOM),
				this.place(event).x - this.timeline.gutter
			);
		else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.viewport.pan(sideways * unit);
		else
			return;
		event.preventDefault();
	}

	pointerDown(event, onAxis) {
		const { x, y } = this.place(event);
		const pans =
			onAxis ||
			event.shiftKey ||
			event.button === 1 ||
			event.pointerType === 'touch';

		if (event.button > 1)
			return;
		event.currentTarget.setPointerCapture(event.pointerId);
		this.pointers.set(event.pointerId, x);
		this.drag =
			this.pointers.size > 1
				? { pinch: true }
				: { pans, onAxis, x, y, last: x, moved: false };
	}

	pointerMove(event) {
		const { x } = this.place(event);

		if (event.pointerType !== 'touch')
			this.point(x);
		if (!this.drag || !this.pointers.has(event.pointerId))
			return;
		if (this.drag.pinch)
			this.pinch(event.pointerId, x);
		else
			this.dragTo(x);
		this.pointers.set(event.pointerId, x);
	}

	point(x) {
		const { timeline, viewport } = this;

		timeline.hover =
			x === null || x < timeline.gutter
				? null
				: viewport.toTime(x - timeline.gutter);
		timeline.redraw();
	}

	dragTo(x) {
		const { drag, timeline, viewport } = this;

		drag.moved ||= Math.abs(x - drag.x) > CLICK_PIXELS;
		if (!drag.moved)
			return;
		if (drag.pans)
			viewport.pan(drag.last - x);
		else {
			const times = [drag.x, x].map((pixel) =>
				viewport.toTime(Math.max(0, pixel - timeline.gutter))
			);
			timeline.range = {
				from: Math.max(0, Math.min(...times)),
				to: Math.min(viewport.end, Math.max(...times)),
			};
			timeline.redraw();
		}
		drag.last = x;
	}

	// Zoom so that the times under two fingers stay under them.
	pinch(id, x) {
		const other = [...this.pointers].find(([key]) => key !== id)?.[1];
		const before = this.pointers.get(id);

		if (other === undefined || Math.abs(x - other) < 8)
			return;
		this.viewport.zoom(
			Math.max(8, Math.abs(before - other)) / Math.abs(x - other),
			other - this.timeline.gutter
		);
	}

	pointerUp(event) {
		const { drag, timeline } = this;

		this.pointerGone(event);
		if (!drag || drag.pinch)
			return;
		if (!drag.moved && !drag.onAxis)
			this.click(drag.x, drag.y);
		else if (drag.moved && !drag.pans && timeline.range)
			this.selectRange(timeline.range.from, timeline.range.to);
	}

	pointerGone(event) {
		this.pointers.delete(event.pointerId);
		this.drag = null;
	}

	click(x, y) {
		const { timeline } = this;
		const { ns, lane, row } = timeline.hit(x, y);
		const model = timeline.modelAt(ns);

		timeline.canvas.focus({ preventScroll: true });
		if (x < timeline.gutter || !model || lane < 0 && row < 0)
			return;
		if (!model.hasSlices)
			return this.noSlices(ns);
		const slice =
			lane >= 0
				? this.sliceNear(model, lane, ns)
				: this.taskSliceNear(model, timeline.tasks[row][0], ns);
		if (slice < 0)
			this.clear();
		else
			this.select(model, slice, false);
	}

	noSlices(ns) {
		this.clear();
		showHint(
			this.details,
			`Single slices are not drawn at ${formatMoment(ns)}: ${moreSlices(this.head, this.sliceState)}.`
		);
	}

	// Return the lane's slice at a time that was clicked, or one near it, since slices may be
	// narrower than a pixel; -1 if there is none.
	sliceNear(model, lane, ns) {
		const near = NEAR_PIXELS * this.viewport.nsPerPixel;

		for (const step of [0, -0.25, 0.25, -0.5, 0.5, -1, 1]) {
			const slice = model.sliceAt(lane, ns + step * near);
			if (slice >= 0)
				return slice;
		}
		return -1;
	}

	// Return the task's slice at or near a time that was clicked; if the task waits then, the
	// slice after the wait; -1 if there is none.
	taskSliceNear(model, tid, ns) {
		const k = model.byTid.get(tid);
		const near = NEAR_PIXELS * this.viewport.nsPerPixel;

		if (k === undefined)
			return -1;
		const slice = model.taskSliceAt(k, ns, true);
		return slice >= 0 &&
			model.slices.start[slice] - Math.max(model.wait[slice], near) <= ns &&
			model.slices.end[slice] + near >= ns
			? slice
			: -1;
	}

	// Selection

	select(model, slice, reveal) {
		const { timeline, viewport, head } = this;
		const lane = model.laneOf(slice);
		const { start, end } = model.slices;

		timeline.selected = { model, slice, lane };
		timeline.woken = model.wokenBy(slice, MOST_WOKEN);
		timeline.range = null;
		if (reveal) {
			viewport.reveal(start[slice], end[slice]);
			timeline.revealLane(lane);
		}
		this.say(sliceText(model, slice, head.cpus[lane]));
		showSliceDetails(this.details, {
			model,
			slice,
			woken: timeline.woken,
			head,
			explain: this.explain,
			act: this.act,
		});
		timeline.redraw();
	}

	selectRange(from, to) {
		const { timeline, head } = this;
		const model = timeline.finest((m) => m.from <= from && m.to >= to);

		timeline.selected = null;
		timeline.woken = [];
		timeline.range = { from, to };
		this.say(`range of ${formatNs(to - from)} from ${formatMoment(from)}`);
		showRangeDetails(this.details, {
			model,
			from,
			to,
			act: this.act,
			noTasks: `Single tasks are not drawn here: ${moreSlices(head, this.sliceState)}.`,
		});
		timeline.redraw();
	}

	clear() {
		const { timeline } = this;

		if (!timeline.selected && !timeline.range)
			timeline.marks = [];
		timeline.selected = null;
		timeline.woken = [];
		timeline.range = null;
		this.say('nothing is selected');
		this.hint();
		timeline.redraw();
	}

	// Select the next slice of the same task (`by` is 1), or the previous one (-1).
	step(by) {
		const { selected } = this.timeline;
		const other = selected ? selected.model.neighbour(selected.slice, by) : -1;

		if (other >= 0)
			this.select(selected.model, other, true);
		else
			this.say(
				selected
					? `no ${by > 0 ? 'later' : 'earlier'} slice of it is in this report`
					: 'no slice is selected'
			);
	}

	// Select the next slice of the same CPU (`by` is 1), or the previous one (-1).
	along(by) {
		const { selected } = this.timeline;

		if (!selected)
			return this.across(0);
		const { first } = selected.model.slices;
		const other = selected.slice + by;
		if (other >= first[selected.lane] && other < first[selected.lane + 1])
			this.select(selected.model, other, true);
	}

	// Select a slice at about the same time on the next lane below (`by` is 1) or above (-1)
	// that has slices. If no slice is selected, take the middle of the window, from the first
	// lane on.
	across(by) {
		const { timeline, viewport, head } = this;
		const { selected } = timeline;
		const at = selected
			? selected.model.slices.start[selected.slice]
			: (viewport.from + viewport.to) / 2;
		const model = timeline.modelAt(at);

		if (!model?.hasSlices)
			return this.noSlices(at);
		for (
			let lane = selected ? selected.lane + by : 0;
			lane >= 0 && lane < head.cpus.length;
			lane += by || 1
		) {
			const slice = model.closestSlice(lane, at);
			if (slice >= 0)
				return this.select(model, slice, true);
		}
	}

	fit() {
		const { timeline, viewport } = this;
		const { selected, range } = timeline;
		const start = selected
			? selected.model.slices.start[selected.slice] -
				selected.model.wait[selected.slice]
			: range?.from;
		const end = selected ? selected.model.slices.end[selected.slice] : range?.to;
		const margin = (end - start) / 4;
		const { from, to } = viewport;

		if (start !== undefined)
			viewport.show(start - margin, end + margin);
		if (viewport.from === from && viewport.to === to)
			viewport.fit();
	}

	mark() {
		const { timeline, viewport } = this;
		const { hover, selected, marks } = timeline;
		const at =
			hover ??
			(selected
				? selected.model.slices.start[selected.slice]
				: (viewport.from + viewport.to) / 2);

		marks.push(at);
		const between =
			marks.length > 1
				? `, ${formatNs(at - marks.at(-2), 4)} from the one before`
				: '';
		this.say(`mark ${marks.length} at ${formatMoment(at)}${between}`);
		timeline.redraw();
	}

	// Go to a link's place: show its interval with a margin. Select the slice of the link's
	// task or CPU at the end of the interval; if there is none, select the interval.
	async go({ from, to, cpu, tid }) {
		const { timeline, viewport, head } = this;
		const margin = Math.max((to - from) * 0.5, 1000);
		const lane = head.cpus.indexOf(cpu);

		viewport.show(from - margin, to + margin);
		if (lane >= 0)
			timeline.revealLane(lane);
		timeline.revealTask(tid);
		timeline.canvas.scrollIntoView({ block: 'center' });
		timeline.canvas.focus({ preventScroll: true });
		await this.load(to);
		const model = timeline.modelAt(to);
		const slice = model?.hasSlices ? placeSlice(model, to, lane, tid) : -1;
		if (slice >= 0)
			this.select(model, slice, false);
		else
			this.selectRange(from, to);
	}

	// Search

	find() {
		const { timeline, search, tasks } = this;
		const found = findTasks(tasks, search.value);
		const wanted = search.value.trim() !== '';

		timeline.highlight = wanted ? new Set(found.map(([tid]) => tid)) : null;
		timeline.setTasks(wanted ? found : tasks);
		if (wanted)
			this.say(
				found.length
					? `${found.length} of ${tasks.length} tasks: ${found.slice(0, 3).map(taskText).join(', ')}`
					: 'no task has that name'
			);
	}

	searchKey(event) {
		if (event.key === 'Enter')
			this.nextFound();
		else if (event.key === 'Escape') {
			this.search.value = '';
			this.find();
			this.timeline.canvas.focus({ preventScroll: true });
		} else
			return;
		event.preventDefault();
	}

	// Select the first slice of a found task that begins after the selected one does or, if
	// none is selected, after the window's beginning.
	nextFound() {
		const { timeline, viewport } = this;
		const { selected, highlight } = timeline;
		const after = selected
			? selected.model.slices.start[selected.slice]
			: viewport.from;
		const model = timeline.modelAt(after);

		if (!highlight?.size || !model?.hasSlices)
			return;
		const slice = model.nextSliceOf(highlight, after);
		if (slice >= 0)
			this.select(model, slice, true);
		else
			this.say('no later slice of these tasks is in this report');
	}

	showKeys() {
		const list = KEYS.map(([key, what]) => [
			element('dt', {}, element('kbd', {}, key)),
			element('dd', {}, what),
		]);

		this.keys.setAttribute('aria-label', 'Keys of the time line');
		this.keys.replaceChildren(
			element('h2', {}, 'Keys of the time line'),
			element('dl', {}, list),
			element(
				'button',
				{ type: 'button', onclick: () => this.keys.close() },
				'close'
			)
		);
		this.keys.showModal();
	}
}

function isTyping(element) {
	return (
		element.isContentEditable ||
		['INPUT', 'SELECT', 'TEXTAREA'].includes(element.tagName)
	);
}

// Return the slice that a link means, or -1. `at` is the end of the link's interval. For a link
// with a tid it is the task's slice that covers `at`, else the next one; otherwise it is the
// lane's.
function placeSlice(model, at, lane, tid) {
	const k = model.byTid.get(tid);

	if (tid !== undefined)
		return k === undefined ? -1 : model.taskSliceAt(k, at, true);
	return lane >= 0 ? model.closestSlice(lane, at) : -1;
}
