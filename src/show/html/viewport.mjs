// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The window of time that the page shows: its borders, and moving and zooming it. Also places the
// marks of time axes and formats times.

const MIN_WINDOW_NS = 100;
// Units of time and the length of each in ns, the shortest first.
const UNITS = [
	['ns', 1],
	['µs', 1e3],
	['ms', 1e6],
	['s', 1e9],
	['min', 60e9],
	['h', 3600e9],
	['d', 86400e9],
];
// Steps between the marks of an axis, in a unit; STEPS for units that are not listed.
const STEPS_OF = {
	s: [1, 2, 5, 10, 20, 30],
	min: [1, 2, 5, 10, 30],
	h: [1, 2, 6, 12],
	d: [1, 2, 5, 10, 20, 50, 100, 200, 500],
};
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

// A window [from, to] within [begin, end], in ns: the recording's [0, end], or the wider one of all
// pages in a file. Each change of it calls the functions that were passed to onchange().
export class Viewport {
	constructor(end, width = 1) {
		this.begin = 0;
		this.end = Math.max(end, MIN_WINDOW_NS);
		this.from = 0;
		this.to = this.end;
		this.width = width;
		this.callbacks = [];
	}

	onchange(callback) {
		this.callbacks.push(callback);
	}

	get nsPerPixel() {
		return (this.to - this.from) / this.width;
	}

	toPixel(ns) {
		return (ns - this.from) / this.nsPerPixel;
	}

	toTime(pixel) {
		return this.from + pixel * this.nsPerPixel;
	}

	resize(width) {
		this.width = Math.max(1, width);
	}

	// Make all of [begin, end] reachable, and show it.
	widen(begin, end) {
		this.begin = Math.min(begin, this.begin);
		this.end = Math.max(end, this.end);
		this.fit();
	}

	// Show [from, to]. A window that reaches beyond [begin, end] is moved into it, and shortened
	// if it is longer than that.
	show(from, to) {
		const length = Math.min(Math.max(to - from, MIN_WINDOW_NS), this.end - this.begin);
		const middle = (from + to) / 2;
		const begin = Math.min(
			Math.max(middle - length / 2, this.begin),
			this.end - length
		);

		if (!Number.isFinite(begin) || begin === this.from && begin + length === this.to)
			return;
		this.from = begin;
		this.to = begin + length;
		for (const callback of this.callbacks)
			callback(this);
	}

	// Make the window `factor` times as long. The time under `pixel` stays there.
	zoom(factor, pixel = this.width / 2) {
		const fixed = this.toTime(pixel);
		const length = Math.min(
			Math.max((this.to - this.from) * factor, MIN_WINDOW_NS),
			this.end - this.begin
		);
		const begin = Math.min(
			Math.max(fixed - length * (pixel / this.width), this.begin),
			this.end - length
		);

		this.show(begin, begin + length);
	}

	pan(pixels) {
		const ns = Math.min(
			Math.max(pixels * this.nsPerPixel, this.begin - this.from),
			this.end - this.to
		);

		this.show(this.from + ns, this.to + ns);
	}

	// Make [from, to] visible. If it is not inside the window, centre the window on it. If it
	// is longer than 90 % of the window, show it with a quarter of its length on either side.
	reveal(from, to) {
		const length = this.to - this.from;

		if (to - from > length * 0.9)
			this.show(from - (to - from) / 4, to + (to - from) / 4);
		else if (from < this.from || to > this.to)
			this.show((from + to - length) / 2, (from + to + length) / 2);
	}

	fit() {
		this.show(this.begin, this.end);
	}
}

// Return the smallest step between the marks of an axis, in ns, that leaves at least `pixels`
// between two of them.
export function tickStep(nsPerPixel, pixels) {
	const least = nsPerPixel * pixels;

	for (const [unit, ns] of UNITS)
		for (const step of STEPS_OF[unit] ?? STEPS)
			if (step * ns >= least)
				return step * ns;
	return 1000 * 86400e9;
}

// Return the marks of the axis of [from, to]: { step, base, ticks: [ns] }. If labels with the time
// since the origin would have too many digits, labels show the time since .base; otherwise .base is
// 0.
export function axisTicks(from, to, width, pixels) {
	const step = tickStep((to - from) / width, pixels);
	const coarse = step * 1000;
	const base = from > coarse * 10 ? Math.floor(from / coarse) * coarse : 0;
	const ticks = [];

	for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step)
		ticks.push(tick);
	return { step, base, ticks };
}

// Format a duration with its unit and about `digits` digits: 1.25 ms.
export function formatNs(ns, digits = 3) {
	const size = Math.abs(ns);
	const [unit, one] = UNITS.findLast(([, least]) => size >= least) ?? UNITS[0];

	if (one > 1e9)
		return formatClock(ns);
	const value = ns / one;
	const decimals =
		unit === 'ns'
			? 0
			: Math.max(0, digits - String(Math.floor(Math.abs(value))).length);
	return `${value.toFixed(decimals)} ${unit}`;
}

// Format a duration as hours, minutes and seconds, with days if there are any: 1 d 1:02:03.
function formatClock(ns) {
	const s = Math.round(Math.abs(ns) / 1e9);
	const two = (n) => String(n).padStart(2, '0');
	const days = Math.floor(s / 86400);
	const clock = `${Math.floor(s / 3600) % 24}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;

	return (ns < 0 ? '-' : '') + (days ? `${days} d ${clock}` : clock);
}

// Format the label of a mark, with no more digits than the step needs.
export function formatTick(ns, step) {
	if (ns === 0)
		return '0';
	if (step >= 60e9)
		return formatClock(ns);
	const [unit, one] =
		UNITS.slice(0, 4).findLast(([, least]) => Math.abs(ns) >= least) ?? UNITS[0];
	const decimals = Math.max(0, Math.ceil(Math.log10(one / step) - 1e-9));
	return `${(ns / one).toFixed(decimals)} ${unit}`;
}

// Format a time since the origin to the nanosecond, with its digits in groups: 2.345 678 901 s.
export function formatMoment(ns) {
	const whole = Math.floor(Math.abs(ns) / 1e9);
	const rest = String(Math.round(Math.abs(ns) - whole * 1e9)).padStart(9, '0');

	return `${ns < 0 ? '-' : ''}${whole}.${rest.slice(0, 3)} ${rest.slice(3, 6)} ${rest.slice(6)} s`;
}

// Format the time of day (UTC) at `ns` after the origin, with `decimals` digits of a second. `wall`
// is the time of day at the origin, in ns since 1970; if the recording does not have it (null),
// return ''.
export function formatWall(wall, ns, decimals = 3) {
	if (wall === null || wall === undefined)
		return '';
	const at = BigInt(wall) + BigInt(Math.round(ns));
	const second = at / 1000000000n;
	const text = new Date(Number(second) * 1000);
	const fraction = String(at % 1000000000n)
		.padStart(9, '0')
		.slice(0, decimals);
	return Number.isNaN(text.getTime())
		? ''
		: `${text.toISOString().slice(11, 19)}${decimals ? '.' : ''}${fraction} UTC`;
}
