// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Curves of load tracking, queues, lag and frequency, below the time line and with its time axis.
// Each chart has a scale of its own. Users choose the signals, and the CPUs, tasks, cgroups and
// domains. A value holds until the next one; unknown values are gaps.

import { byId, countOf, element, formatCount, plainTable, safeName, scrollBox, taskName } from './dom.mjs';
import { axisTicks, formatMoment, formatTick } from './viewport.mjs';

const MOST_CURVES = 12;
const MOST_CHOICES = 200;
const FIRST_SIGNALS = ['util', 'util_est', 'nr_running', 'capacity', 'frequency'];
const MOST_SIGNALS = 3;
const FIRST_OWNERS = 2;
const CHART_HEIGHT = 150;
const LEAST_GUTTER = 52;
const DASHES = [[], [6, 3], [2, 2]];
const SCALES = { 1024: 'of 1024', count: 'tasks', flag: 'yes or no' };

// Decode the curves of a part: .t has the times of the points, in ns from the origin, and .v their
// values, NaN if unknown. Curves without points are left out.
export function decodeCurves(part) {
	const shapes = part.curves ?? [];
	const total = shapes.reduce((sum, { points }) => sum + points, 0);

	if (!total)
		return [];
	const [gaps, values] = [part.column('curves.t', total), part.column('curves.v', total)];
	let at = 0;
	return shapes
		.map((shape) => {
			const t = new Float64Array(shape.points);
			const v = values.subarray(at, at + shape.points);
			let now = part.from_ns;
			for (let i = 0; i < shape.points; i++)
				t[i] = now += gaps[at + i];
			at += shape.points;
			return {
				...shape,
				t,
				v,
				owner: ownerText(shape, part.tasks),
				kind: ownerKind(shape),
			};
		})
		.filter((curve) => curve.t.length);
}

function ownerKind({ task, cgroup, domain }) {
	return task !== undefined
		? 'Tasks'
		: cgroup !== undefined
			? 'Cgroups'
			: domain !== undefined
				? 'Domains'
				: 'CPUs';
}

function ownerText({ cpu, task, cgroup, domain }, tasks) {
	if (task !== undefined)
		return tasks[task]
			? taskName({ tid: tasks[task][0], comm: tasks[task][2] })
			: 'a task';
	if (cgroup !== undefined)
		return `${safeName(cgroup)}${cpu === undefined ? '' : ` on CPU ${cpu}`}`;
	return domain !== undefined ? `CPUs ${safeName(domain)}` : `CPU ${cpu}`;
}

// Return the name of the chart that a curve is in. Signals of the same scale share a chart, except
// those of scale 'open', since each of these has its own unit.
function chartOf({ scale, signal }) {
	return scale === 'open' ? signal : scale;
}

function chartTitle(chart) {
	return (
		SCALES[chart] ??
		{ frequency: 'frequency, kHz', lag: 'lag, ns' }[chart] ??
		`${chart}, weighted`
	);
}

export function showCurves(part, viewport, head) {
	const curves = decodeCurves(part);

	if (!curves.length) {
		byId('curves').replaceChildren(
			element(
				'p',
				{ class: 'hint' },
				'This recording has no load-tracking events.'
			)
		);
		return;
	}
	new CurvesView(byId('curves'), curves, viewport, head).draw();
}

class CurvesView {
	constructor(root, curves, viewport, head) {
		const signals = [...new Set(curves.map((curve) => curve.signal))];
		const owners = groupOwners(curves);

		Object.assign(this, {
			root,
			curves,
			viewport,
			end: head.window_ns,
			plots: [],
			pending: false,
		});
		this.signals = new Set(
			FIRST_SIGNALS.filter((signal) => signals.includes(signal)).slice(
				0,
				MOST_SIGNALS
			)
		);
		if (!this.signals.size)
			this.signals.add(signals[0]);
		this.owners = new Set([...owners.values()][0].slice(0, FIRST_OWNERS));
		this.charts = element('div', { class: 'charts' });
		this.table = element('div');
		root.replaceChildren(
			element(
				'div',
				{ class: 'chooser' },
				choiceList('Signals', signals, this.signals, () => this.draw()),
				[...owners].map(([kind, names]) =>
					choiceList(kind, names, this.owners, () => this.draw())
				)
			),
			this.charts,
			element(
				'details',
				{},
				element('summary', {}, 'Curves as a table'),
				this.table
			)
		);
		viewport.onchange(() => this.moveSoon());
		new ResizeObserver(() => this.resize()).observe(this.charts);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
			this.draw()
		);
	}

	chosen() {
		const order = [...this.signals];

		return this.curves
			.filter(
				(curve) =>
					this.signals.has(curve.signal) &&
					this.owners.has(curve.owner)
			)
			.sort(
				(a, b) =>
					order.indexOf(a.signal) - order.indexOf(b.signal) ||
					a.owner.localeCompare(b.owner, 'en', { numeric: true })
			);
	}

	draw() {
		const charts = new Map();

		for (const curve of this.chosen())
			charts.set(chartOf(curve), [...charts.get(chartOf(curve)) ?? [], curve]);
		for (const plot of this.plots)
			plot.destroy();
		this.plots = [];
		this.charts.replaceChildren();
		this.size = this.place();
		for (const [chart, curves] of charts)
			this.drawChart(chart, curves);
		if (!charts.size)
			this.charts.append(
				element(
					'p',
					{ class: 'hint' },
					'None of the chosen has a chosen signal.'
				)
			);
		this.table.replaceChildren(curveTable(this.chosen()));
	}

	// Return the charts' geometry, so that their time axes line up with the time line: the
	// width, the gutter left of the axis, and the space right of it.
	place() {
		const width = this.charts.clientWidth;
		const lanes = byId('timeline').querySelector('.lanes')?.clientWidth ?? width;
		const right = Math.max(0, width - lanes - 1);
		const gutter = Math.max(LEAST_GUTTER, Math.round(lanes - this.viewport.width) + 1);

		return { width, gutter, right };
	}

	drawChart(chart, curves) {
		const shown = curves.slice(0, MOST_CURVES);
		const style = getComputedStyle(document.documentElement);
		const colour = (name) => style.getPropertyValue(name).trim();
		const strokes = shown.map((_, i) => colour(`--curve-${i % 6}`));
		const values = shown.map(() => element('b'));
		const legend = element(
			'ul',
			{ class: 'curve-legend' },
			shown.map((curve, i) =>
				element(
					'li',
					{},
					curveSwatch(strokes[i], i),
					`${curve.signal} ${curve.owner} `,
					values[i]
				)
			),
			curves.length > shown.length
				? element(
						'li',
						{ class: 'hint' },
						`${shown.length} of ${countOf(curves.length, 'curve')} are drawn`
					)
				: null
		);
		const title = chartTitle(chart);
		const box = element('div', {
			class: 'chart',
			role: 'img',
			'aria-label': `${title}: ${shown.map((curve) => `${curve.signal} of ${curve.owner}`).join(', ')}`,
		});

		this.charts.append(
			element(
				'figure',
				{},
				element('figcaption', {}, element('span', {}, title), legend),
				box
			)
		);
		this.plots.push(
			new uPlot(
				this.options(chart, shown, strokes, values, colour),
				joinCurves(shown, this.end),
				box
			)
		);
	}

	options(chart, curves, strokes, values, colour) {
		const { width, gutter, right } = this.size;
		const axis = {
			stroke: colour('--muted'),
			grid: { stroke: colour('--grid'), width: 1 },
			ticks: { stroke: colour('--grid'), width: 1 },
			font: '11px system-ui, sans-serif',
		};

		return {
			width,
			height: CHART_HEIGHT,
			padding: [8, right, 0, 0],
			legend: { show: false },
			cursor: {
				sync: { key: 'curves' },
				drag: { setScale: false, x: true, y: false },
				points: { show: false },
			},
			scales: {
				x: {
					time: false,
					range: () => [this.viewport.from, this.viewport.to],
				},
				y: { range: rangeOf(chart, curves) },
			},
			axes: [
				{
					...axis,
					size: 26,
					splits: () => this.ticks().ticks,
					values: (_, splits) => this.tickLabels(splits),
				},
				{
					...axis,
					size: gutter,
					values: (_, splits) =>
						splits.map((value) =>
							value === null ? '' : shortNumber(value)
						),
				},
			],
			series: [
				{},
				...curves.map((curve, i) => ({
					label: curve.signal,
					stroke: strokes[i],
					width: 1.5,
					dash: DASHES[Math.floor(i / 6) % DASHES.length],
					points: { show: false },
					paths: uPlot.paths.stepped({ align: 1 }),
				})),
			],
			hooks: {
				setCursor: [(plot) => showValues(plot, curves, values)],
				setSelect: [(plot) => this.select(plot)],
			},
		};
	}

	ticks() {
		return axisTicks(this.viewport.from, this.viewport.to, this.viewport.width, 110);
	}

	tickLabels(splits) {
		const { step, base } = this.ticks();

		return splits.map((ns) => `${base ? '+' : ''}${formatTick(ns - base, step)}`);
	}

	select(plot) {
		const { left, width } = plot.select;

		if (width < 4)
			return;
		const [from, to] = [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')];
		plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
		this.viewport.show(from, to);
	}

	moveSoon() {
		if (this.pending)
			return;
		this.pending = true;
		requestAnimationFrame(() => {
			this.pending = false;
			for (const plot of this.plots)
				plot.setScale('x', {
					min: this.viewport.from,
					max: this.viewport.to,
				});
		});
	}

	// Draw again if the geometry changed. A change of height alone is ignored, because drawing
	// itself causes it.
	resize() {
		const place = this.place();

		if (
			place.width &&
			(place.width !== this.size?.width || place.gutter !== this.size.gutter)
		)
			this.draw();
	}
}

// Return the range of a chart's values. It includes the values outside of the window, because an
// interval without points has the last value before it.
function rangeOf(chart, curves) {
	let [least, most] = [0, chart === 'flag' ? 1 : 0];

	for (const { v } of curves) {
		for (const value of v) {
			least = value < least ? value : least;
			most = value > most ? value : most;
		}
	}
	return [least * 1.05, most > 0 ? most * 1.05 : 1];
}

function shortNumber(value) {
	const size = Math.abs(value);

	return size >= 1e9
		? `${value / 1e9} G`
		: size >= 1e6
			? `${value / 1e6} M`
			: size >= 1e4
				? `${value / 1e3} k`
				: String(value);
}

// Return the curves as columns for uPlot: first all times, then the values of each curve. null is a
// gap; undefined means that the previous value continues.
function joinCurves(curves, end) {
	return uPlot.join(curves.map(({ t, v }) => {
		const values = Array.from(v, (value) => Number.isNaN(value) ? null : value);
		const moments = Array.from(t);
		if (moments.at(-1) < end) {
			moments.push(end);
			values.push(values.at(-1));
		}
		return dropRepeats(moments, values);
	}));
}

// Keep only the last of several values at the same time.
function dropRepeats(moments, values) {
	const kept = moments.map((at, i) => moments[i + 1] !== at);

	return [moments.filter((_, i) => kept[i]), values.filter((_, i) => kept[i])];
}

// Show the value of each curve at the cursor in the legend.
function showValues(plot, curves, values) {
	const at = plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, 'x') : null;

	curves.forEach((curve, i) => {
		const value = at === null ? undefined : curveAt(curve, at);
		values[i].textContent =
			value === undefined
				? ''
				: Number.isNaN(value)
					? 'unknown'
					: formatCount(value);
	});
}

// Return the value of a curve at a time; NaN if that is before the curve's first point.
export function curveAt({ t, v }, at) {
	let [low, high] = [0, t.length];

	while (low < high) {
		const middle = (low + high) >>> 1;
		if (t[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low ? v[low - 1] : NaN;
}

function curveSwatch(stroke, i) {
	const swatch = element('i', {
		class: `swatch dash-${Math.floor(i / 6) % DASHES.length}`,
		'aria-hidden': 'true',
	});

	swatch.style.color = stroke;
	return swatch;
}

// Return the names of the CPUs, tasks, cgroups and domains that have curves, grouped by these
// kinds.
function groupOwners(curves) {
	const groups = new Map();

	for (const { kind, owner } of curves)
		groups.set(kind, (groups.get(kind) ?? new Set()).add(owner));
	return new Map(
		['CPUs', 'Tasks', 'Cgroups', 'Domains']
			.filter((kind) => groups.has(kind))
			.map((kind) => [kind, [...groups.get(kind)]])
	);
}

// Create a list of check boxes. A long list has a filter.
function choiceList(title, names, chosen, changed) {
	const list = element('div', { class: 'choices' });
	const filter =
		names.length > 12
			? element('input', {
					type: 'search',
					placeholder: 'filter',
					'aria-label': `Filter ${title}`,
					oninput: () => fill(),
				})
			: null;
	const fill = () => {
		const wanted = (filter?.value ?? '').trim().toLowerCase();
		const found = names.filter((name) => name.toLowerCase().includes(wanted));
		list.replaceChildren(
			...found
				.slice(0, MOST_CHOICES)
				.map((name) => choiceBox(name, chosen, changed))
		);
	};

	fill();
	return element('fieldset', {}, element('legend', {}, title), filter, list);
}

function choiceBox(name, chosen, changed) {
	const box = element('input', { type: 'checkbox', onchange: () => {
		if (box.checked)
			chosen.add(name);
		else
			chosen.delete(name);
		changed();
	} });

	box.checked = chosen.has(name);
	return element('label', {}, box, name);
}

function curveTable(curves) {
	const rows = curves.slice(0, MOST_CHOICES).map(({ signal, owner, t, v }) => {
		const known = v.filter((value) => !Number.isNaN(value));
		const text = (value) => (known.length ? formatCount(value) : '–');
		return [
			signal,
			owner,
			formatMoment(t[0]),
			formatCount(t.length),
			text(known.reduce((a, b) => Math.min(a, b), Infinity)),
			text(known.reduce((a, b) => Math.max(a, b), -Infinity)),
			text(known.at(-1)),
		];
	});

	return scrollBox(
		'Curves, table',
		plainTable(['signal', 'of', 'from', 'points', 'least', 'most', 'last'], rows, 2)
	);
}
