// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Parts of a page (docs/internals/html.md) made of plain arrays, for tests of the page's modules.

const UNKNOWN = 1;
const OFFLINE = 2;
const SIZE_OF = { u8: 1, u32: 4, f32: 4 };
const VIEW_OF = { u8: Uint8Array, u32: Uint32Array, f32: Float32Array };

// The first bytes of all, then the second ones of those that go on, and so forth.
function varints(numbers) {
	const bytes = [];

	for (let left = Array.from(numbers); left.length; left = left.filter((value) => value >= 128).map((value) => Math.floor(value / 128)))
		for (const value of left)
			bytes.push(value >= 128 ? value % 128 + 128 : value);
	return Uint8Array.from(bytes);
}

// Bytes of a part: `json`, and columns as [name, type, numbers].
export function encodeColumns(json, columns) {
	const encoded = columns.map(([name, type, numbers]) => [name, type,
		type === 'varint' ? varints(numbers) : new Uint8Array(VIEW_OF[type].from(numbers).buffer)]);
	const table = (base) => {
		let at = base;

		return Object.fromEntries(encoded.map(([name, type, bytes]) => {
			const entry = [name, [at, bytes.length, type]];

			at = Math.ceil((at + bytes.length) / 8) * 8;
			return entry;
		}));
	};
	const text = (base) => new TextEncoder().encode(JSON.stringify({ ...json, columns: table(base) }));
	let base = 0;

	// the table contains the columns' offsets, which depend on the length of the table itself
	while (base < 4 + text(base).length)
		base = Math.ceil((4 + text(base).length) / 8) * 8;
	const places = Object.values(table(base));
	const out = new Uint8Array(places.length ? Math.max(...places.map(([at, length]) => at + length)) : base).fill(32, 0, base);
	new DataView(out.buffer).setUint32(0, base - 4, true);
	out.set(text(base), 4);
	encoded.forEach(([, , bytes], i) => out.set(bytes, places[i][0]));
	return out;
}

// A part of { from_ns, to_ns, tasks, lanes: [[{ start, end, runner, before, after, wait, waker, from }]] }; `buckets` of the finest level, 0: none.
export function encodePart({ from_ns, to_ns, tasks, lanes, buckets = 64, slices = true, rows = 0, curves = [], columns = [] }) {
	const json = { from_ns, to_ns, tasks, curves };
	const [nr, ...others] = slices ? sliceColumns(from_ns, lanes) : [];
	const all = [...columns];

	if (slices) {
		json.slices = lanes.reduce((sum, lane) => sum + lane.length, 0);
		all.push(nr);
	}
	if (buckets)
		all.push(...levelColumns(json, from_ns, to_ns, lanes, buckets));
	all.push(...others);
	if (rows)
		all.push(...taskLevelColumns(json, from_ns, to_ns, lanes, rows));
	return encodeColumns(json, all);
}

function sliceColumns(from, lanes) {
	const flat = lanes.flat();

	return [
		['slices.nr', 'u32', lanes.map((lane) => lane.length)],
		['slices.gap', 'varint', lanes.flatMap((lane) => lane.map((s, i) => s.start - (i ? lane[i - 1].end : from)))],
		['slices.ns', 'varint', flat.map((s) => s.end - s.start)],
		['slices.runner', 'varint', flat.map((s) => s.runner)],
		['slices.how', 'u8', flat.map((s) => (s.before ?? 0) | (s.after ?? 0) << 2)],
		['slices.wait', 'varint', flat.map((s) => s.wait ?? 0)],
		['slices.waker', 'varint', flat.map((s) => s.waker ?? 0)],
		['slices.from', 'varint', flat.map((s) => s.from ?? 0)],
	];
}

function levelColumns(json, from, to, lanes, most) {
	const ns = Math.ceil((to - from) / most);
	const buckets = Math.ceil((to - from) / ns);
	const levels = [];
	let count = 0;

	for (let level = buckets; ; level = Math.ceil(buckets / 4 ** count)) {
		const columns = { runner: [], busy: [], unknown: [], wait: [], depth: [] };

		for (const lane of lanes)
			addLane(lane, from, ns * 4 ** count, level, columns);
		levels.unshift(...Object.entries(columns).map(([name, numbers]) =>
			[`levels.${count}.${name}`, name === 'runner' || name === 'wait' ? 'varint' : 'u8', numbers]));
		count++;
		if (level <= 64)
			break;
	}
	json.levels = { ns, buckets, count };
	return levels;
}

function addLane(lane, from, ns, buckets, columns) {
	const sums = Array.from({ length: buckets }, () => ({ runners: new Map(), wait: 0 }));
	const depth = new Uint8Array(buckets);

	for (const s of lane) {
		eachBucket(s.start, s.end, from, ns, (b, length) => sums[b].runners.set(s.runner, (sums[b].runners.get(s.runner) ?? 0) + length));
		const b = Math.min(buckets - 1, Math.floor((s.start - from) / ns));
		sums[b].wait = Math.max(sums[b].wait, Math.ceil((s.wait ?? 0) / 1000));
	}
	for (const [b, n] of depths(lane, from, ns, buckets))
		depth[b] = Math.max(depth[b], Math.min(255, n));
	sums.forEach((sum, b) => {
		const list = [...sum.runners].sort((x, y) => y[1] - x[1]);
		const share = (pick) => Math.round(255 * list.filter(([r]) => pick(r)).reduce((total, [, length]) => total + length, 0) / ns);

		columns.runner.push(list[0]?.[0] ?? 0);
		columns.busy.push(share((r) => r > OFFLINE));
		columns.unknown.push(share((r) => r === UNKNOWN || r === OFFLINE));
		columns.wait.push(sum.wait);
		columns.depth.push(depth[b]);
	});
}

function eachBucket(start, end, from, ns, add) {
	for (let b = Math.floor((start - from) / ns); from + b * ns < end; b++)
		add(b, Math.min(end, from + (b + 1) * ns) - Math.max(start, from + b * ns));
}

// [bucket, how many ran or waited]: at each change, and where a bucket begins.
function* depths(lane, from, ns, buckets) {
	const changes = lane.filter((s) => s.runner > OFFLINE)
		.flatMap((s) => [[Math.max(from, s.start - (s.wait ?? 0)), 1], [s.end, -1]])
		.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
	let depth = 0;
	let b = 0;

	for (const [at, change] of changes) {
		for (; b < buckets && from + b * ns < at; b++)
			yield [b, depth];
		depth += change;
		yield [Math.min(buckets - 1, Math.floor((at - from) / ns)), depth];
	}
}

function taskLevelColumns(json, from, to, lanes, rows) {
	const ns = Math.ceil((to - from) / 1024);
	const buckets = Math.ceil((to - from) / ns);
	const columns = { run: [], wait: [], blocked: [], unknown: [] };
	const tasks = Array.from({ length: rows }, (_, k) => k);
	let count = 0;

	for (let level = buckets; ; level = Math.ceil(buckets / 4 ** count)) {
		const width = ns * 4 ** count;
		for (const k of tasks) {
			const run = new Float64Array(level);
			const wait = new Float64Array(level);
			for (const s of lanes.flat().filter((slice) => slice.runner === k + 3)) {
				eachBucket(s.start, s.end, from, width, (b, length) => run[b] += length);
				eachBucket(Math.max(from, s.start - (s.wait ?? 0)), s.start, from, width, (b, length) => wait[b] += length);
			}
			columns.run.push(...run.map((v) => Math.round(255 * v / width)));
			columns.wait.push(...wait.map((v) => Math.round(255 * v / width)));
			columns.blocked.push(...new Uint8Array(level));
			columns.unknown.push(...new Uint8Array(level));
		}
		count++;
		if (level <= 64)
			break;
	}
	json.task_levels = { ns, buckets, count, tasks };
	return Object.entries(columns).map(([name, numbers]) => [`task_levels.${name}`, 'u8', numbers]);
}
