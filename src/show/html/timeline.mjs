// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The time line: an axis, a lane for each CPU, a row for each task, and on top of these the
// selection, the marks and what a search found. It draws only after a change, and only what is
// visible.

import { element, safeName } from './dom.mjs';
import { HUES, LanePixels, RowPixels, canDrawWindow, sampleLane, sampleTask, taskHue } from './model.mjs';
import { Picture, paintLane, paintRow, readTheme } from './paint.mjs';
import { axisTicks, formatMoment, formatNs, formatTick, formatWall } from './viewport.mjs';

const AXIS_HEIGHT = 40;
const GUTTER = 148;
const NARROW_GUTTER = 84;
const NARROW = 640;
const TOP = 3;
const HEADING_HEIGHT = 24;
const ROW_HEIGHT = 18;
const ROW_GAP = 2;
const LANE_HEIGHTS = [[4, 40], [8, 32], [16, 24], [32, 18], [Infinity, 14]];
const TICK_PIXELS = 110;
const NARROW_TICK_PIXELS = 80;
const FONT = '11px system-ui, sans-serif';
const STATE_LABELS = { wait: 'waiting', blocked: 'blocked', sleep: 'sleeping', unknown: 'unknown' };
// Maximum number of parts that are kept in addition to the first one.
const MAX_PARTS = 16;

// Measures texts, and cuts those that do not fit.
class Labels {
	constructor(context) {
		this.context = context;
		this.widths = new Map();
	}

	measure(text) {
		let width = this.widths.get(text);

		if (width === undefined) {
			width = this.context.measureText(text).width;
			this.widths.set(text, width);
		}
		return width;
	}

	fit(text, room) {
		const width = this.measure(text);

		if (width <= room)
			return text;
		const length = Math.floor(text.length * room / width) - 1;
		return length > 1 ? `${text.slice(0, length)}…` : '';
	}
}

export class Timeline {
	constructor(root, head, viewport) {
		this.head = head;
		this.viewport = viewport;
		this.models = [];
		this.tasks = [];
		this.marks = [];
		this.selected = null; // { model, slice, lane }
		this.woken = [];
		this.range = null; // { from, to }
		this.highlight = null;
		this.hover = null;
		this.dirty = false;
		this.build(root);
		viewport.onchange(() => this.redraw());
		new ResizeObserver(() => this.resize()).observe(root);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
			this.redraw()
		);
		this.scroller.addEventListener('scroll', () => this.redraw(), { passive: true });
		this.resize();
	}

	build(root) {
		this.canvas = element('canvas', {
			class: 'lanes-canvas',
			tabindex: 0,
			role: 'application',
			'aria-label': 'Time line of CPUs and tasks. Press ? for its keys.',
		});
		this.space = element('div', { class: 'lanes-space' }, this.canvas);
		this.scroller = element('div', { class: 'lanes' }, this.space);
		this.axis = element('canvas', { class: 'axis', 'aria-hidden': 'true' });
		this.status = element('p', { class: 'lanes-status', role: 'status' });
		root.replaceChildren(this.axis, this.scroller, this.status);
		this.context = this.canvas.getContext('2d', { alpha: false });
		this.axisContext = this.axis.getContext('2d');
		this.context.font = FONT;
		this.labels = new Labels(this.context);
	}

	// Add the model of a part, and draw again. Each time is drawn from the finest model that
	// covers it. If there are too many models, the oldest except the first one is dropped.
	addModel(model) {
		if (!this.models.includes(model))
			this.models.push(model);
		if (this.models.length > MAX_PARTS + 1)
			this.models.splice(1, 1);
		this.redraw();
	}

	// Whether a model has loaded all data that drawing the current window takes.
	isDrawnWhole(model) {
		const { viewport, scale } = this;

		return canDrawWindow(model, viewport.from, viewport.nsPerPixel / scale,
			Math.ceil(viewport.width * scale));
	}

	// Set the tasks that have a row, as [tid, tgid, comm], in order from the top.
	setTasks(tasks) {
		this.tasks = tasks;
		this.layout();
	}

	resize() {
		const width = this.scroller.clientWidth;

		this.scale = Math.max(1, Math.round(devicePixelRatio * 2) / 2);
		this.gutter = width < NARROW ? NARROW_GUTTER : GUTTER;
		this.width = Math.max(1, width);
		this.viewport.resize(this.width - this.gutter);
		this.layout();
	}

	layout() {
		const lanes = this.head.cpus.length;

		this.laneHeight = LANE_HEIGHTS.find(([most]) => lanes <= most)[1];
		this.rowsTop = TOP + lanes * (this.laneHeight + ROW_GAP) + HEADING_HEIGHT;
		this.contentHeight = this.rowsTop + this.tasks.length * (ROW_HEIGHT + ROW_GAP) + 4;
		this.space.style.height = `${this.contentHeight}px`;
		this.height = Math.max(1, Math.min(this.contentHeight, this.scroller.clientHeight));
		this.sizeCanvas(this.canvas, this.width, this.height);
		this.sizeCanvas(this.axis, this.width, AXIS_HEIGHT);
		this.redraw();
	}

	sizeCanvas(canvas, width, height) {
		const [w, h] = [Math.round(width * this.scale), Math.round(height * this.scale)];

		if (canvas.width === w && canvas.height === h)
			return;
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}

	redraw() {
		if (this.dirty)
			return;
		this.dirty = true;
		requestAnimationFrame(() => {
			this.dirty = false;
			this.draw();
		});
	}

	// Divide the window's pixels among the models for which isUsable() is true, the finest
	// model for each pixel: [{ model, x0, x1 }] in device pixels. Pixels that no model covers
	// are left out.
	segments(width, isUsable = () => true) {
		const { from, nsPerPixel } = this.viewport;
		const toPixel = (ns) =>
			Math.min(
				width,
				Math.max(0, Math.round(((ns - from) / nsPerPixel) * this.scale))
			);
		const borders = [
			...new Set([
				0,
				width,
				...this.models.flatMap((m) => [toPixel(m.from), toPixel(m.to)]),
			]),
		].sort((a, b) => a - b);
		const list = [];

		for (let i = 0; i + 1 < borders.length; i++) {
			const [x0, x1] = [borders[i], borders[i + 1]];
			const model = this.finest(
				(m) => toPixel(m.from) <= x0 && toPixel(m.to) >= x1 && isUsable(m)
			);
			if (model)
				list.push({ model, x0, x1 });
		}
		return list;
	}

	// Return the finest of the models for which covers() is true, null if there is none. Of
	// equally fine ones, it is the shortest; of these, the newest.
	finest(covers) {
		const finer = (a, b) =>
			a.grain === b.grain ? a.to - a.from <= b.to - b.from : a.grain < b.grain;

		return this.models
			.filter(covers)
			.reduce((best, m) => (best === null || finer(m, best) ? m : best), null);
	}

	modelAt(ns) {
		return this.finest((m) => m.from <= ns && m.to >= ns);
	}

	laneTop(lane) {
		return TOP + lane * (this.laneHeight + ROW_GAP) - this.scroller.scrollTop;
	}

	rowTop(row) {
		return this.rowsTop + row * (ROW_HEIGHT + ROW_GAP) - this.scroller.scrollTop;
	}

	// Return what is at a point of the canvas: { ns, lane, row }. `lane` is -1 outside of
	// lanes, and `row` is -1 outside of rows.
	hit(x, y) {
		const ns = this.viewport.toTime(x - this.gutter);
		const at = y + this.scroller.scrollTop;
		const lane = Math.floor(Math.max(0, at - TOP) / (this.laneHeight + ROW_GAP));
		const row = Math.floor((at - this.rowsTop) / (ROW_HEIGHT + ROW_GAP));

		return {
			ns,
			lane: lane < this.head.cpus.length ? lane : -1,
			row: at >= this.rowsTop && row < this.tasks.length ? row : -1,
		};
	}

	revealLane(lane) {
		this.reveal(TOP + lane * (this.laneHeight + ROW_GAP), this.laneHeight);
	}

	// Scroll to a task's row, if it has one.
	revealTask(tid) {
		const row = this.tasks.findIndex(([task]) => task === tid);

		if (row >= 0)
			this.reveal(this.rowsTop + row * (ROW_HEIGHT + ROW_GAP), ROW_HEIGHT);
	}

	// Scroll just far enough to make these pixels visible.
	reveal(top, height) {
		if (top < this.scroller.scrollTop)
			this.scroller.scrollTop = top - TOP;
		else if (top + height > this.scroller.scrollTop + this.height)
			this.scroller.scrollTop = top + height + TOP - this.height;
	}

	draw() {
		const { canvas, scale, context } = this;
		const gutter = Math.round(this.gutter * scale);

		this.theme = readTheme(getComputedStyle(document.documentElement));
		if (this.picture?.width !== canvas.width || this.picture.height !== canvas.height)
			this.newPicture(canvas.width, canvas.height, canvas.width - gutter);
		this.picture.fill(0, 0, canvas.width, canvas.height, this.theme.pixel.bg);
		context.setTransform(scale, 0, 0, scale, 0, 0);
		context.font = FONT;
		context.textBaseline = 'middle';
		const texts = [...this.paintLanes(gutter), ...this.paintRows(gutter)];
		context.putImageData(this.picture.data, 0, 0);
		this.drawGutter();
		for (const text of texts)
			this.drawLabel(...text);
		this.drawOverlays();
		this.drawAxis();
	}

	newPicture(width, height, laneWidth) {
		this.picture = new Picture(width, height);
		this.lanePixels = this.head.cpus.map(() => new LanePixels(Math.max(1, laneWidth)));
		this.rowPixels = new RowPixels(Math.max(1, laneWidth));
	}

	visibleLanes() {
		return this.head.cpus
			.map((_, lane) => lane)
			.filter(
				(lane) =>
					this.laneTop(lane) + this.laneHeight > 0 &&
					this.laneTop(lane) < this.height
			);
	}

	visibleRows() {
		const first = Math.max(
			0,
			Math.floor(
				(this.scroller.scrollTop - this.rowsTop) / (ROW_HEIGHT + ROW_GAP)
			)
		);
		const last = Math.ceil(
			(this.scroller.scrollTop + this.height - this.rowsTop) /
				(ROW_HEIGHT + ROW_GAP)
		);

		return this.tasks
			.slice(first, Math.max(first, last))
			.map((task, i) => ({ task, row: first + i }));
	}

	// Paint the visible lanes. Return the labels of wide slices, as arguments of drawLabel().
	paintLanes(gutter) {
		const { scale, viewport, theme } = this;
		const segments = this.segments(this.lanePixels[0]?.width ?? 0);
		const lanes = this.visibleLanes();
		const texts = [];
		let longest = 1;

		for (const lane of lanes) {
			const pixels = this.lanePixels[lane];
			pixels.clear();
			for (const { model, x0, x1 } of segments)
				sampleLane(
					model,
					lane,
					viewport.from,
					viewport.nsPerPixel / scale,
					x0,
					x1,
					pixels
				);
			for (let x = 0; x < pixels.width; x++)
				longest = Math.max(longest, pixels.wait[x]);
		}
		for (const lane of lanes) {
			const top = this.laneTop(lane);
			const pixels = this.lanePixels[lane];
			paintLane(
				this.picture,
				gutter,
				Math.round(top * scale),
				Math.round(this.laneHeight * scale),
				pixels,
				theme,
				{ scale: Math.round(scale), highlight: this.highlight, longest }
			);
			for (const [left, right, runner, model] of pixels.wide)
				texts.push(this.laneLabel(left, right, top, runner, model));
		}
		return texts;
	}

	laneLabel(left, right, top, runner, model) {
		const task = model.task(runner);
		const hue = task ? taskHue(task[0]) : -1;
		const shown = task && (!this.highlight || this.highlight.has(task[0]));
		const band = this.laneHeight * 0.28;

		return [
			task ? safeName(task[2]) : runner === 1 ? 'unknown' : 'offline',
			left / this.scale,
			right / this.scale,
			top + band + (this.laneHeight - band) / 2,
			shown
				? isLight(HUES[hue])
					? '#000000'
					: '#ffffff'
				: this.theme.text.muted,
			!task,
		];
	}

	paintRows(gutter) {
		const { scale, viewport, theme } = this;
		const height = Math.round(ROW_HEIGHT * scale);
		const texts = [];

		for (const { task, row } of this.visibleRows()) {
			const top = this.rowTop(row);
			const y = Math.round(top * scale);

			this.rowPixels.clear();
			for (const { model, x0, x1 } of this.segments(this.rowPixels.width, (m) =>
				m.coversTask(task[0])
			))
				sampleTask(
					model,
					task[0],
					viewport.from,
					viewport.nsPerPixel / scale,
					x0,
					x1,
					this.rowPixels
				);
			this.picture.fill(
				gutter,
				y,
				this.rowPixels.width,
				height,
				theme.pixel.lane
			);
			paintRow(
				this.picture,
				gutter,
				y,
				height,
				this.rowPixels,
				taskHue(task[0]),
				theme,
				Math.round(scale)
			);
			for (const [left, right, state] of this.rowPixels.wide)
				if (STATE_LABELS[state])
					texts.push([
						STATE_LABELS[state],
						left / scale,
						right / scale,
						top + ROW_HEIGHT / 2,
						theme.text.muted,
						true,
					]);
		}
		return texts;
	}

	// Draw a text within [left, right], in pixels from the gutter's right edge. A text that is
	// `backed` stands on a pattern: it gets a plain background, and is left out if not all of
	// it fits.
	drawLabel(text, left, right, y, colour, backed) {
		const { context } = this;
		const room = right - left - 8;
		const fitted = backed
			? this.labels.measure(text) <= room && text
			: this.labels.fit(text, room);

		if (!fitted)
			return;
		const width = this.labels.measure(fitted);
		const x = this.gutter + left + (backed ? (right - left - width) / 2 : 4);
		if (backed) {
			context.fillStyle = this.theme.text.lane;
			context.fillRect(x - 3, y - 7, width + 6, 14);
		}
		context.fillStyle = colour;
		context.fillText(fitted, x, y + 0.5);
	}

	drawGutter() {
		const { context, theme, gutter } = this;

		context.fillStyle = theme.text.bg;
		context.fillRect(0, 0, gutter, this.height);
		context.fillStyle = theme.text.fg;
		for (const lane of this.visibleLanes())
			context.fillText(
				`CPU ${this.head.cpus[lane]}`,
				8,
				this.laneTop(lane) + this.laneHeight / 2
			);
		if (this.tasks.length)
			this.drawHeading();
		for (const { task, row } of this.visibleRows())
			this.drawTaskName(task, this.rowTop(row));
	}

	drawHeading() {
		const { context, theme } = this;
		const y = this.rowTop(0) - HEADING_HEIGHT / 2;

		context.font = `600 ${FONT}`;
		context.fillText(
			`${this.tasks.length} ${this.tasks.length === 1 ? 'task' : 'tasks'}`,
			8,
			y
		);
		context.font = FONT;
		context.fillStyle = theme.text.line;
		context.fillRect(this.gutter, y, this.width, 1);
	}

	drawTaskName([tid, , comm], top) {
		const { context, theme, gutter } = this;
		const number = String(tid);
		const room = gutter - 24 - this.labels.measure(number);

		context.fillStyle = HUES[taskHue(tid)];
		context.fillRect(0, top, this.isSelected(tid) ? 6 : 3, ROW_HEIGHT);
		context.fillStyle = theme.text.fg;
		context.font = this.isSelected(tid) ? `700 ${FONT}` : FONT;
		context.fillText(this.labels.fit(safeName(comm), room), 10, top + ROW_HEIGHT / 2);
		context.font = FONT;
		context.fillStyle = theme.text.muted;
		context.textAlign = 'right';
		context.fillText(number, gutter - 8, top + ROW_HEIGHT / 2);
		context.textAlign = 'left';
	}

	isSelected(tid) {
		return (
			this.selected !== null &&
			this.selected.model.tidOf(
				this.selected.model.slices.runner[this.selected.slice]
			) === tid
		);
	}

	drawOverlays() {
		const { context } = this;

		context.save();
		context.beginPath();
		context.rect(this.gutter, 0, this.width - this.gutter, this.height);
		context.clip();
		context.translate(this.gutter, 0);
		if (this.range)
			this.drawRange();
		for (const mark of this.marks)
			this.drawLine(mark, this.theme.text.accent, [4, 3]);
		if (this.hover !== null)
			this.drawLine(this.hover, this.theme.text.muted, []);
		if (this.selected)
			this.drawSelected();
		context.restore();
	}

	drawLine(ns, colour, dash) {
		const { context } = this;
		const x = Math.round(this.viewport.toPixel(ns)) + 0.5;

		context.strokeStyle = colour;
		context.setLineDash(dash);
		context.beginPath();
		context.moveTo(x, 0);
		context.lineTo(x, this.height);
		context.stroke();
		context.setLineDash([]);
	}

	drawRange() {
		const { context, theme } = this;
		const [left, right] = [
			this.viewport.toPixel(this.range.from),
			this.viewport.toPixel(this.range.to),
		];

		context.globalAlpha = 0.14;
		context.fillStyle = theme.text.accent;
		context.fillRect(left, 0, right - left, this.height);
		context.globalAlpha = 1;
		this.drawLine(this.range.from, theme.text.accent, []);
		this.drawLine(this.range.to, theme.text.accent, []);
	}

	drawSelected() {
		const { model, slice, lane } = this.selected;
		const { start, end } = model.slices;
		const top = this.laneTop(lane);

		this.drawArrows();
		if (model.wait[slice] > 0)
			this.drawWait(model, slice, top);
		this.drawFrame(start[slice], end[slice], top, this.laneHeight);
		for (const { task, row } of this.visibleRows())
			if (this.isSelected(task[0]))
				this.drawFrame(
					start[slice],
					end[slice],
					this.rowTop(row),
					ROW_HEIGHT
				);
	}

	// Draw a frame around the selection, in two colours so that it is visible on light and on
	// dark slices.
	drawFrame(from, to, top, height) {
		const { context, theme } = this;
		const left = Math.max(-8, this.viewport.toPixel(from));
		const width = Math.max(
			2,
			Math.min(this.width + 8, this.viewport.toPixel(to)) - left
		);

		for (const [line, colour] of [[4, theme.text.bg], [2, theme.text.fg]]) {
			context.lineWidth = line;
			context.strokeStyle = colour;
			context.strokeRect(left, top, width, height);
		}
		context.lineWidth = 1;
	}

	// Draw the wait before a slice as a bracket along the top of the lane.
	drawWait(model, slice, top) {
		const { context, theme } = this;
		const right = this.viewport.toPixel(model.slices.start[slice]);
		const left = this.viewport.toPixel(model.slices.start[slice] - model.wait[slice]);

		context.strokeStyle = theme.text.wait;
		context.lineWidth = 2;
		context.beginPath();
		context.moveTo(left, top + this.laneHeight);
		context.lineTo(left, top + 2);
		context.lineTo(right, top + 2);
		context.stroke();
		context.lineWidth = 1;
	}

	drawArrows() {
		const { model, slice, lane } = this.selected;
		const waker = model.wakerOf(slice);
		const { start } = model.slices;

		if (waker?.slice >= 0)
			this.drawArrow(
				waker.at_ns,
				model.laneOf(waker.slice),
				start[slice],
				lane,
				this.theme.text.fg
			);
		for (const other of this.woken)
			this.drawArrow(
				start[other] - model.wait[other],
				lane,
				start[other],
				model.laneOf(other),
				this.theme.text.muted
			);
	}

	drawArrow(fromNs, fromLane, toNs, toLane, colour) {
		const { context } = this;
		const [x0, x1] = [this.viewport.toPixel(fromNs), this.viewport.toPixel(toNs)];
		const y0 = this.laneTop(fromLane) + this.laneHeight / 2;
		const y1 = this.laneTop(toLane) + this.laneHeight / 2;
		const bend = Math.min(60, Math.max(16, Math.abs(x1 - x0) / 2));

		for (const [width, stroke] of [[4, this.theme.text.bg], [1.5, colour]]) {
			context.lineWidth = width;
			context.strokeStyle = stroke;
			context.beginPath();
			context.moveTo(x0, y0);
			context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
			context.stroke();
		}
		context.lineWidth = 1;
		context.fillStyle = colour;
		context.beginPath();
		context.moveTo(x1, y1);
		context.lineTo(x1 - 7, y1 - 4);
		context.lineTo(x1 - 7, y1 + 4);
		context.fill();
		context.beginPath();
		context.arc(x0, y0, 3, 0, 2 * Math.PI);
		context.fill();
	}

	drawAxis() {
		const { axisContext: context, viewport, theme, scale, gutter } = this;
		const { step, base, ticks } = axisTicks(
			viewport.from,
			viewport.to,
			viewport.width,
			gutter === GUTTER ? TICK_PIXELS : NARROW_TICK_PIXELS
		);

		context.setTransform(scale, 0, 0, scale, 0, 0);
		context.font = FONT;
		context.textBaseline = 'middle';
		context.fillStyle = theme.text.bg;
		context.fillRect(0, 0, this.width, AXIS_HEIGHT);
		this.drawAxisTexts(context, base && formatTick(base, step * 1000));
		context.fillStyle = theme.text.line;
		context.fillRect(gutter, AXIS_HEIGHT - 1, this.width - gutter, 1);
		for (const tick of ticks) {
			const x = Math.round(gutter + viewport.toPixel(tick));
			context.fillStyle = theme.text.muted;
			context.fillRect(x, AXIS_HEIGHT - 9, 1, 9);
			context.fillStyle = theme.text.fg;
			context.fillText(
				base ? `+${formatTick(tick - base, step)}` : formatTick(tick, step),
				x + 4,
				AXIS_HEIGHT - 11
			);
		}
		this.drawFlags(context);
	}

	// Draw the texts of the axis: in the gutter the base that is added to the labels; in the
	// upper line the window's time of day and length, and the time at the pointer.
	drawAxisTexts(context, base) {
		const { viewport, theme, gutter } = this;
		const wall = formatWall(this.head.wall_ns, viewport.from);
		const length = formatNs(viewport.to - viewport.from, 4);

		context.fillStyle = theme.text.fg;
		if (base)
			context.fillText(`${base} +`, 8, AXIS_HEIGHT - 11);
		context.fillStyle = theme.text.muted;
		context.fillText(wall, gutter + 4, 9);
		context.textAlign = 'right';
		context.fillText(`${length} visible`, this.width - 8, 9);
		context.textAlign = 'left';
		if (this.hover !== null)
			this.drawHoverText(context, this.gutter + viewport.toPixel(this.hover));
	}

	drawHoverText(context, x) {
		const text = formatMoment(this.hover);
		const width = this.labels.measure(text);
		const left = Math.min(Math.max(x - width / 2, this.gutter), this.width - width - 8);

		context.fillStyle = this.theme.text.bg;
		context.fillRect(left - 8, 0, width + 16, 18);
		context.fillStyle = this.theme.text.fg;
		context.fillText(text, left, 9);
	}

	drawFlags(context) {
		const { viewport, theme, gutter } = this;

		context.fillStyle = theme.text.accent;
		this.marks.forEach((mark, i) => {
			const x = Math.round(gutter + viewport.toPixel(mark));
			if (x < gutter || x > this.width)
				return;
			context.fillRect(x, 18, 1, AXIS_HEIGHT - 18);
			context.fillRect(x, 18, 14, 11);
			context.fillStyle = theme.text.bg;
			context.fillText(String(i + 1), x + 4, 24);
			context.fillStyle = theme.text.accent;
		});
	}
}

// Whether black text is easier to read than white text on a colour, '#rrggbb'.
function isLight(hex) {
	const value = parseInt(hex.slice(1), 16);

	return (value >> 16) * 0.299 + (value >> 8 & 255) * 0.587 + (value & 255) * 0.114 > 120;
}
