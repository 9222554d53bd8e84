// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Paints lanes and rows into a bitmap, pixel by pixel. So the cost of a frame depends on its size,
// and not on the number of slices in it. Unknown, offline, waiting and blocked time have patterns
// of their own, so that users can distinguish them without colour.

import { HUES, taskHue } from './model.mjs';

const NAMES = [
	'bg',
	'fg',
	'accent',
	'unknown',
	'muted',
	'line',
	'lane',
	'queue',
	'wait',
	'blocked',
	'sleep',
];
// The band at the top of a lane shows the queue and long waits. This is its share of the lane's
// height.
const BAND = 0.28;
const MIN_BAND_LANE = 12;
const DEEP_QUEUE = 8;
// Waits shorter than this share of the longest visible wait have no mark.
const MARKED_WAIT = 0.25;

// Convert '#rrggbb' to an opaque pixel, with the bytes red, green, blue, alpha in memory.
function toPixel(hex) {
	const value = parseInt(hex.slice(1), 16);

	return (0xff000000 | (value & 255) << 16 | value & 0xff00 | value >> 16) >>> 0;
}

function mixPixels(a, b, share) {
	const part = (shift) =>
		Math.round(((a >> shift) & 255) * (1 - share) + ((b >> shift) & 255) * share) <<
		shift;

	return (0xff000000 | part(16) | part(8) | part(0)) >>> 0;
}

// Read the colours from the page's style: as texts in .text, as pixels in .pixel. The others are
// pixels, too: the task colours (.hues), those of tasks that a search did not find (.faint), of the
// borders of slices (.edges), and of the patterns of waiting and blocked tasks (.ground, .line).
export function readTheme(style) {
	const text = Object.fromEntries(
		NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim() || '#888888'])
	);
	const pixel = Object.fromEntries(NAMES.map((name) => [name, toPixel(text[name])]));
	const hues = HUES.map(toPixel);

	return {
		text, pixel, hues,
		faint: hues.map((hue) => mixPixels(hue, pixel.lane, 0.78)),
		edges: hues.map((hue) => mixPixels(hue, pixel.bg, 0.45)),
		ground: {
			wait: mixPixels(pixel.lane, pixel.wait, 0.16),
			blocked: mixPixels(pixel.lane, pixel.blocked, 0.16),
		},
		line: {
			wait: mixPixels(pixel.lane, pixel.wait, 0.55),
			blocked: mixPixels(pixel.lane, pixel.blocked, 0.75),
		},
	};
}

// A bitmap to paint in.
export class Picture {
	constructor(width, height) {
		this.data = new ImageData(width, height);
		this.pixels = new Uint32Array(this.data.data.buffer);
		this.width = width;
		this.height = height;
	}

	fill(x, y, width, height, pixel) {
		const last = Math.min(y + height, this.height);

		for (let row = Math.max(0, y); row < last; row++)
			this.pixels.fill(pixel, row * this.width + x, row * this.width + x + width);
	}
}

function isHatched(x, y, scale) {
	return (x + y) % (6 * scale) < scale;
}

function isCrossed(x, y, scale) {
	return (x + y) % (8 * scale) < scale || (x - y + 8000 * scale) % (8 * scale) < scale;
}

function isStriped(x, y, scale) {
	return (x - y + 5000 * scale) % (5 * scale) < scale;
}

// Paint a CPU's lane at (x, y). A column of pixels shows at the bottom which task ran, as high as
// the CPU was busy, and in the band at the top the length of the queue and where long waits ended.
// `highlight` are the tids that a search found, or null; `longest` is the longest visible wait in
// ns.
export function paintLane(picture, x, y, height, lane, theme, { scale, highlight, longest }) {
	const band = height >= MIN_BAND_LANE * scale ? Math.round(height * BAND) : 0;
	const { width } = lane;

	picture.fill(x, y, width, height, theme.pixel.lane);
	for (let column = 0; column < width; column++) {
		const busy = Math.min(1, lane.busy[column]);
		const off = lane.offline[column] > 0.01;
		const unknown = off ? lane.offline[column] : lane.unknown[column];

		if (unknown > 0.01)
			paintUnknown(
				picture,
				x + column,
				y,
				Math.max(1, Math.round(height * Math.min(1, unknown))),
				off,
				theme,
				scale
			);
		if (busy > 0) {
			const size = Math.max(scale, Math.round((height - band) * busy));
			paintColumn(
				picture,
				x + column,
				y + height - size,
				size,
				runnerPixel(lane, column, theme, highlight)
			);
		}
		if (band)
			paintBand(
				picture,
				x + column,
				y,
				band,
				lane,
				column,
				theme,
				longest,
				scale
			);
	}
}

function runnerPixel(lane, column, theme, highlight) {
	const tid = lane.tid[column];

	if (tid < 0)
		return theme.pixel.muted;
	const hue = taskHue(tid);
	if (highlight && !highlight.has(tid))
		return theme.faint[hue];
	return lane.edge[column] ? theme.edges[hue] : theme.hues[hue];
}

function paintColumn(picture, x, y, height, pixel) {
	const { pixels, width } = picture;
	const last = Math.min(y + height, picture.height) * width;

	for (let i = Math.max(0, y) * width + x; i < last; i += width)
		pixels[i] = pixel;
}

function paintUnknown(picture, x, y, height, off, theme, scale) {
	const { pixels, width } = picture;
	const drawn = off ? isCrossed : isHatched;

	for (let row = Math.max(0, y); row < Math.min(y + height, picture.height); row++)
		if (drawn(x, row, scale))
			pixels[row * width + x] = theme.pixel.unknown;
}

function paintBand(picture, x, y, band, lane, column, theme, longest, scale) {
	const waiting = lane.depth[column] - 1;
	const wait = lane.wait[column] / longest;

	if (waiting > 0) {
		const size = Math.max(
			1,
			Math.round((band - 1) * Math.min(1, Math.sqrt(waiting / DEEP_QUEUE)))
		);
		paintColumn(picture, x, y + band - size, size, theme.pixel.queue);
	}
	if (wait >= MARKED_WAIT)
		paintColumn(
			picture,
			x,
			y + Math.round((band - 2 * scale) * (1 - wait)),
			2 * scale,
			theme.pixel.wait
		);
}

// Paint a task's row. A column of pixels shows the task's states on top of each other, each as high
// as its share of the time. Sleeping is a thin line.
export function paintRow(picture, x, y, height, row, hue, theme, scale) {
	const line = y + height - Math.ceil(height / 2);

	for (let column = 0; column < row.width; column++) {
		let bottom = y + height;

		if (row.sleep[column] > 0.5)
			paintColumn(picture, x + column, line, scale, theme.pixel.sleep);
		for (const state of ['run', 'wait', 'blocked', 'unknown']) {
			const share = row[state][column];
			if (share < 0.004)
				continue;
			const size = Math.min(
				bottom - y,
				Math.max(scale, Math.round(height * share))
			);
			bottom -= size;
			paintState(picture, x + column, bottom, size, state, hue, theme, scale);
		}
	}
}

function paintState(picture, x, y, height, state, hue, theme, scale) {
	const { pixels, width } = picture;

	if (state === 'run')
		return paintColumn(picture, x, y, height, theme.hues[hue]);
	if (state === 'unknown')
		return paintUnknown(picture, x, y, height, false, theme, scale);
	for (let row = Math.max(0, y); row < Math.min(y + height, picture.height); row++) {
		const drawn = state === 'wait' ? isStriped(x, row, scale) : x % (4 * scale) < scale;
		pixels[row * width + x] = drawn ? theme.line[state] : theme.ground[state];
	}
}
