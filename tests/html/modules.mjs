// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The page's modules that need no browser: named cases, TAP.
import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { createInflateRaw, deflateRawSync } from 'node:zlib';
import { encodeColumns, encodePart } from './make_part.mjs';
import { Part, openSource, parseReport, pickPart } from '../../src/show/html/source.mjs';
import { LanePixels, PartModel, RowPixels, findTasks, firstAbove, pickLevel, rangeStatistics, sampleLane, sampleTask, taskHue,
	canDrawWindow, wantsSlices } from '../../src/show/html/model.mjs';
import { Viewport, axisTicks, formatMoment, formatNs, formatTick, formatWall, tickStep } from '../../src/show/html/viewport.mjs';

// Node 18's does not know what browsers' do.
class InflateRawStream {
	constructor() {
		return Duplex.toWeb(createInflateRaw());
	}
}
try {
	new DecompressionStream('deflate-raw');
} catch {
	globalThis.DecompressionStream = InflateRawStream;
}

// Two CPUs. Task 0 ('a') runs, is preempted by 1 ('b'), runs again; then sleeps, is woken by b, and goes to the other CPU, where time
// is unknown before; at last it blocks.
const TASKS = [[10, 10, 'a'], [11, 10, 'b'], [12, 12, 'Other']];
const LANES = [
	[{ start: 0, end: 1000, runner: 3, before: 1, after: 1, wait: 0, waker: 1 }, { start: 1000, end: 3000, runner: 4, before: 1, after: 2, wait: 500, waker: 2, from: 1 },
		{ start: 3000, end: 4000, runner: 3, before: 2, after: 2, wait: 2000, from: 1 }, { start: 6000, end: 8000, runner: 4, before: 1, after: 5, waker: 1, from: 1 }],
	[{ start: 4000, end: 6000, runner: 1 }, { start: 7500, end: 9000, runner: 3, before: 1, after: 3, wait: 1000, waker: 3, from: 1 }],
];
const SHAPE = { from_ns: 0, to_ns: 10000, tasks: TASKS, lanes: LANES };

function modelOf(shape = {}) {
	return new PartModel(new Part(encodePart({ ...SHAPE, ...shape })), [0, 5]);
}

function near(values, wanted) {
	assert.equal(values.length, wanted.length);
	wanted.forEach((value, i) => assert.ok(Math.abs(values[i] - value) < 0.01, `number ${i} is ${values[i]}, not ${value}`));
}

// Elements by their id; of those in `later` the browser has read nothing until .read() is called, and the last of all ends with the file
// where this is `cut`.
function documentOf(elements, later = {}, cut = false) {
	const there = new Map(Object.entries(elements));
	const listeners = [];

	return {
		location: { search: '?token=abc' }, readyState: 'loading',
		getElementById: (id) => there.has(id) ? { textContent: there.get(id), nextSibling: cut && id === [...there.keys()].at(-1) ? null : {}, remove: () => there.delete(id) } : null,
		addEventListener: (name, listener) => listeners.push(listener),
		read() {
			Object.entries(later).forEach(([id, text]) => there.set(id, text));
			this.readyState = 'interactive';
			listeners.forEach((listener) => listener());
			return this;
		},
	};
}

function pack(bytes) {
	return deflateRawSync(bytes).toString('base64');
}

const HEAD = { served: false, origin_ns: '10041811361963', window_ns: 10000, parts: [{ from_ns: 0, to_ns: 10000, slices: true, pieces: [1, 0] }] };
// The part's levels in front of the page's script, and the rest behind it in two pieces.
const PIECES = { ...HEAD, parts: [{ ...HEAD.parts[0], pieces: [1, 2] }] };
const PART = encodePart({ ...SHAPE, buckets: 100 });
const FRONT = endOf('levels.0.depth');
const [BEFORE, BEHIND] = [{ head: JSON.stringify(PIECES), 'part-0-0': pack(PART.subarray(0, FRONT)) },
	{ 'part-0-1': pack(PART.subarray(FRONT, FRONT + 9)), 'part-0-2': pack(PART.subarray(FRONT + 9)) }];

function endOf(column, bytes = PART) {
	const [at, length] = new Part(bytes).columns[column];

	return at + length;
}

const REPORT = `{"recording":{"start_ns":1763792140000000001,"window_ns":5},"waits":[{"from_ns":1763792140000000003,"to_ns":1763792140000000010,"wait_ns":7,"comm":"\\"from_ns\\":1763792140000000003"}],
"hist":[{"from_ns":1024,"to_ns":2047}],"all":{"max_at_ns":null,"max_ns":9007199254740993},"unknown":{"start_ns":3}}`;

const cases = {
	'varints of all sizes are what they were': () => {
		const numbers = [0, 1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32 + 5, 6048e11, 2 ** 53 - 1];
		const part = new Part(encodeColumns({}, [['x', 'varint', numbers]]));
		assert.deepEqual([...part.column('x', numbers.length)], numbers);
	},
	'a column of floats keeps what is not known': () => {
		const part = new Part(encodeColumns({}, [['a', 'u8', [1, 2, 3]], ['v', 'f32', [0.5, NaN, -2]], ['n', 'u32', [7, 4294967295]]]));
		assert.deepEqual([...part.column('v')], [0.5, NaN, -2]);
		assert.deepEqual([...part.column('n', 2)], [7, 4294967295]);
	},
	'a column that is cut off is refused': () => {
		const bytes = encodeColumns({}, [['x', 'varint', [1, 300, 2]]]);
		assert.throws(() => new Part(bytes.subarray(0, bytes.length - 2)).column('x', 3), /cut off/);
	},
	'a column that has other numbers than belong there is refused': () => {
		const bytes = encodeColumns({}, [['x', 'varint', [1, 300, 2]], ['y', 'u8', [1, 2]]]);
		assert.throws(() => new Part(bytes).column('x', 2), /does not have the 2/);
		assert.throws(() => new Part(bytes).column('x', 2 ** 40), /does not have/);
		assert.throws(() => new Part(bytes).column('y', 3), /has 2 numbers where 3/);
	},
	'a number that goes on behind its column is refused': () => {
		for (const bytes of [[128], [128, 128], [128, 5, 128], [128, 1, 129]]) {
			const part = new Part(encodeColumns({}, [['x', 'u8', bytes]]));
			part.columns.x[2] = 'varint';
			assert.throws(() => part.column('x', 1), /does not have/);
		}
	},
	'a part of nothing is refused': () => {
		assert.throws(() => new Part(new Uint8Array(3)), /cut off/);
		assert.throws(() => new Part(new Uint8Array([255, 255, 255, 255, 1])), /cut off/);
	},
	'moments of 19 digits are exact, from the origin': () => {
		const report = parseReport(REPORT, '1763792140000000000');
		assert.equal(report.recording.start_ns, 1);
		assert.deepEqual([report.waits[0].from_ns, report.waits[0].to_ns, report.waits[0].wait_ns], [3, 10, 7]);
	},
	'lengths and names that look like moments stay': () => {
		const report = parseReport(REPORT, '1763792140000000000');
		assert.deepEqual(report.hist, [{ from_ns: 1024, to_ns: 2047 }]);
		assert.equal(report.unknown.start_ns, 3);
		assert.equal(report.all.max_at_ns, null);
		assert.equal(report.all.max_ns, 9007199254740992);
		assert.equal(report.waits[0].comm, '"from_ns":1763792140000000003');
	},
	'moments of few digits are from the origin too': () =>
		assert.equal(parseReport('{"waits":[{"from_ns":1500}]}', '1000').waits[0].from_ns, 500),
	'of the parts the finest that covers is taken': () => {
		const parts = [{ from_ns: 0, to_ns: 100, slices: false }, { from_ns: 10, to_ns: 50, slices: true }, { from_ns: 20, to_ns: 40, slices: true }];
		assert.deepEqual([[0, 100], [15, 45], [25, 35], [5, 15]].map(([from, to]) => pickPart(parts, from, to)), [0, 1, 2, 0]);
	},
	'a page gives its reports and parts': async () => {
		const source = openSource(documentOf({ head: JSON.stringify(HEAD), 'report-explain': pack('{"waits":[]}'), 'part-0-0': pack(PART) }).read());
		assert.deepEqual(await source.report('explain'), { waits: [] });
		assert.deepEqual((await source.part(0, 100)).tasks, TASKS);
		assert.equal(await source.part(0, 100), await source.part(5, 50));
		await assert.rejects(source.report('summary'), /cut off.* 'report-summary'/);
	},
	'what stands before the script can be drawn before the rest is read': async () => {
		const document = documentOf(BEFORE, BEHIND);
		const source = openSource(document);
		const part = await source.part(0, 100);
		const model = new PartModel(part, [0, 5]);
		const pixels = new LanePixels(10);
		pixels.clear();
		sampleLane(model, 0, 0, 1000, 0, 10, pixels);
		near(pixels.busy, [1, 1, 1, 1, 0, 0, 1, 1, 0, 0]);
		assert.deepEqual([model.hasSlices, model.grain > 0, wantsSlices(model, 0, null, 0, 1, 0, 10)], [false, true, true]);
		let ends = 0;
		const end = Promise.all([part.complete(), source.end()]).then(() => ends++);
		await new Promise((resolve) => setTimeout(resolve, 20));
		assert.deepEqual([ends, model.hasSlices], [0, false]);
		document.read();
		await end;
		assert.deepEqual([model.hasSlices, model.grain], [true, 0]);
		assert.deepEqual([...model.slices.start], LANES.flat().map((s) => s.start));
		await source.end();
	},
	'coarse levels are there before finer ones, and a window that needs these is not told by them': () => {
		const bytes = encodePart({ ...SHAPE, buckets: 100, slices: false });
		const [coarse, fine] = ['levels.1.depth', 'levels.0.depth'].map((column) => new PartModel(new Part(bytes.subarray(0, endOf(column, bytes))), [0, 5]));
		assert.deepEqual([coarse, fine].map((model) => model.levels.map(({ ns }) => ns)), [[400], [100, 400]]);
		assert.deepEqual([50, 100, 200, 400, 800].map((ns) => canDrawWindow(fine, 0, ns, 10)), [true, true, true, true, true]);
		assert.deepEqual([50, 100, 200, 400, 800].map((ns) => canDrawWindow(coarse, 0, ns, 10)), [false, false, false, true, true]);
		assert.equal(canDrawWindow(new PartModel(new Part(PART.subarray(0, FRONT)), [0, 5]), 0, 100, 100), false, 'few slices are drawn one by one');
		const pixels = new LanePixels(10);
		pixels.clear();
		sampleLane(coarse, 0, 0, 100, 0, 10, pixels);
		near(pixels.busy, new Array(10).fill(1));
	},
	'a page that ends within its data, or between them, says so': async () => {
		for (const [later, cut] of [[BEHIND, true], [{ 'part-0-1': BEHIND['part-0-1'] }, true], [{ ...BEHIND, 'part-0-2': '' }, true], [{}, false]]) {
			const source = openSource(documentOf(BEFORE, later, cut).read());
			const part = await source.part(0, 100);
			await assert.rejects(part.complete(), /this page is cut off/);
			await assert.rejects(source.end(), /this page is cut off/);
			assert.equal(new PartModel(part, [0, 5]).hasSlices, false);
		}
	},
	'a part that has fewer bytes than it says is not complete': async () => {
		const source = openSource(documentOf({ ...BEFORE, ...BEHIND, 'part-0-2': pack(PART.subarray(FRONT + 9, -1)) }).read());
		await assert.rejects((await source.part(0, 100)).complete(), /cut off/);
	},
	'a page whose data is cut off or damaged is told so': async () => {
		const text = pack(PART);
		const source = openSource(documentOf({ head: JSON.stringify(HEAD), 'part-0-0': text.slice(0, text.length >> 1 & ~3), 'report-x': 'AAAA' }));
		await assert.rejects(source.part(0, 1), /this page is damaged/);
		await assert.rejects(source.report('x'), /this page is damaged/);
		assert.throws(() => openSource(documentOf({})), /no 'head'/);
	},
	'a browser without DecompressionStream is told so': async () => {
		const source = openSource(documentOf({ head: JSON.stringify(HEAD), 'part-0-0': pack(PART) }));
		const kept = globalThis.DecompressionStream;
		delete globalThis.DecompressionStream;
		try {
			await assert.rejects(source.part(0, 1), /no DecompressionStream/);
		} finally {
			globalThis.DecompressionStream = kept;
		}
	},
	'a page that is served asks with its token': async () => {
		const asked = [];
		const kept = globalThis.fetch;
		globalThis.fetch = async (path, { headers }) => {
			asked.push([path, headers['X-Token']]);
			return path === '/report/gone' ? new Response('there is none', { status: 404 }) : new Response(encodePart(SHAPE));
		};
		try {
			const source = openSource(documentOf({ head: JSON.stringify({ ...HEAD, served: true, parts: [] }) }));
			assert.deepEqual((await source.part(0.4, 99.2, 500, [10, 11])).tasks, TASKS);
			await assert.rejects(source.report('gone'), /there is none/);
		} finally {
			globalThis.fetch = kept;
		}
		assert.deepEqual(asked, [['/alive', 'abc'], ['/part?from=0&to=100&buckets=500&tasks=10,11', 'abc'], ['/report/gone', 'abc']]);
	},

	'slices begin and end where they did': () => {
		const { first, start, end, runner } = modelOf().slices;
		assert.deepEqual([...first], [0, 4, 6]);
		assert.deepEqual([...start], LANES.flat().map((s) => s.start));
		assert.deepEqual([...end], LANES.flat().map((s) => s.end));
		assert.deepEqual([...runner], LANES.flat().map((s) => s.runner));
	},
	'a search by time finds the first above': () => {
		const numbers = [1, 3, 3, 5];
		assert.deepEqual([0, 1, 3, 5].map((value) => firstAbove(numbers, value, 0, 4)), [0, 1, 3, 4]);
		assert.equal(firstAbove(numbers, 0, 2, 2), 2);
	},
	'the slice at a moment, and none where the CPU is idle': () => {
		const model = modelOf();
		assert.deepEqual([0, 999, 1000, 4500, 6000, 8000].map((at) => model.sliceAt(0, at)), [0, 0, 1, -1, 3, -1]);
		assert.deepEqual([0, 7500].map((at) => model.sliceAt(1, at)), [-1, 5]);
		assert.deepEqual([4500, 9999].map((at) => model.closestSlice(0, at)), [3, 3]);
		assert.deepEqual([0, 3, 4, 5].map((i) => model.laneOf(i)), [0, 0, 1, 1]);
	},
	'slices of a task are in the order of time, over all CPUs': () => {
		const model = modelOf();
		assert.deepEqual([...model.taskSlices(0)], [0, 2, 5]);
		assert.deepEqual([...modelOf({ lanes: [LANES[1], LANES[0]] }).taskSlices(0)], [2, 4, 1]);
		assert.deepEqual([0, 2, 5].map((i) => model.neighbour(i, 1)), [2, 5, -1]);
		assert.deepEqual([0, 2, 5].map((i) => model.neighbour(i, -1)), [-1, 0, 2]);
		assert.equal(model.neighbour(4, 1), -1, 'nobody ran in unknown time');
	},
	'the slice of a task at a moment, or the next one': () => {
		const model = modelOf({ lanes: [[{ start: 100, end: 200, runner: 3 }, { start: 300, end: 400, runner: 3 }], []] });
		assert.deepEqual([50, 100, 150, 200, 250, 400, 450].map((at) => model.taskSliceAt(0, at)), [-1, 0, 0, 0, -1, 1, -1]);
		assert.deepEqual([50, 150, 250, 450].map((at) => model.taskSliceAt(0, at, true)), [0, 0, 1, 1]);
		assert.equal(model.taskSliceAt(1, 150, true), -1);
	},
	'who woke whom': () => {
		const model = modelOf();
		assert.deepEqual(model.wakerOf(5), { what: 'task', task: TASKS[1], slice: 3, at_ns: 6500 });
		assert.equal(model.wakerOf(0).what, 'interrupt');
		assert.equal(model.wakerOf(2), null);
		assert.deepEqual(model.wokenBy(3, 10), [5]);
		assert.deepEqual(model.wokenBy(0, 10), [1]);
		assert.deepEqual(model.wokenBy(0, 0), []);
	},
	'what ran during a wait': () => {
		assert.deepEqual(modelOf().ranMeanwhile(0, 1000, 3000), [[4, 2000]]);
		assert.deepEqual(modelOf().ranMeanwhile(0, 2500, 6500), [[4, 1000], [3, 1000], [0, 2000]]);
		assert.deepEqual(modelOf().ranMeanwhile(1, 3000, 5000), [[1, 1000], [0, 1000]]);
	},
	'the coarsest level that is fine enough is drawn': () => {
		const levels = [{ ns: 10 }, { ns: 40 }, { ns: 160 }];
		assert.deepEqual([5, 10, 39, 40, 1e9].map((ns) => pickLevel(levels, ns).ns), [10, 10, 10, 40, 160]);
		assert.equal(pickLevel([], 5), null);
	},
	'slices are drawn where they are few, levels where they are many': () => {
		const lanes = [Array.from({ length: 5000 }, (_, i) => ({ start: i * 2, end: i * 2 + 1, runner: 3 })), []];
		const model = modelOf({ lanes, buckets: 1000 });
		const level = pickLevel(model.levels, 100);
		assert.equal(wantsSlices(model, 0, level, 0, 100, 0, 100), false);
		assert.equal(wantsSlices(model, 1, level, 0, 100, 0, 100), true);
		assert.equal(wantsSlices(model, 0, pickLevel(model.levels, 1), 0, 1, 0, 100), true);
		assert.equal(model.sliceColumns, undefined, 'nobody has decoded them for that');
	},
	'pixels of a lane, slice by slice': () => {
		const pixels = new LanePixels(10);
		pixels.clear();
		sampleLane(modelOf({ buckets: 0 }), 0, 0, 1000, 0, 10, pixels);
		near(pixels.busy, [1, 1, 1, 1, 0, 0, 1, 1, 0, 0]);
		assert.deepEqual([...pixels.tid], [10, 11, 11, 10, -1, -1, 11, 11, -1, -1]);
		assert.deepEqual([pixels.wait[1], pixels.wait[3]], [500, 2000]);
		near(pixels.depth, [0, 2, 2, 0, 0, 0, 0, 0, 0, 0]);
	},
	'pixels of a lane where time is unknown or the CPU is offline': () => {
		const pixels = new LanePixels(10);
		pixels.clear();
		sampleLane(modelOf({ buckets: 0, lanes: [LANES[1], [{ start: 500, end: 1500, runner: 2 }]] }), 0, 0, 1000, 0, 10, pixels);
		near(pixels.unknown, [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]);
		near(pixels.busy, [0, 0, 0, 0, 0, 0, 0, 0.5, 1, 0]);
		pixels.clear();
		sampleLane(modelOf({ buckets: 0, lanes: [[], [{ start: 500, end: 1500, runner: 2 }]] }), 1, 0, 1000, 0, 10, pixels);
		near(pixels.offline, [0.5, 0.5, 0, 0, 0, 0, 0, 0, 0, 0]);
		near(pixels.busy, new Array(10).fill(0));
	},
	'pixels of a lane by its levels are those by its slices': () => {
		const [byLevels, bySlices] = [new LanePixels(100), new LanePixels(100)];
		byLevels.clear();
		bySlices.clear();
		sampleLane(modelOf({ buckets: 100, slices: false }), 1, 0, 100, 0, 100, byLevels);
		sampleLane(modelOf({ buckets: 0 }), 1, 0, 100, 0, 100, bySlices);
		near(byLevels.busy, [...bySlices.busy]);
		near(byLevels.unknown, [...bySlices.unknown]);
		assert.deepEqual([...byLevels.tid], [...bySlices.tid]);
		assert.deepEqual([...byLevels.wait], [...bySlices.wait]);
		assert.equal(byLevels.wait[75], 1000);
	},
	'only the pixels that were asked for are drawn': () => {
		for (const slices of [true, false]) {
			const pixels = new LanePixels(20);
			pixels.clear();
			sampleLane(modelOf({ slices, buckets: 100 }), 0, -5000, 1000, 6, 8, pixels);
			near(pixels.busy, Array.from({ length: 20 }, (_, x) => x === 6 || x === 7 ? 1 : 0));
		}
	},
	'behind a part there is nothing': () => {
		for (const slices of [true, false]) {
			const pixels = new LanePixels(200);
			pixels.clear();
			sampleLane(modelOf({ slices, buckets: 100, lanes: [LANES[1], LANES[0]] }), 0, 5000, 100, 0, 200, pixels);
			near(pixels.busy.subarray(40), new Array(160).fill(0));
			near(pixels.unknown, Array.from({ length: 200 }, (_, x) => x < 10 ? 1 : 0));
		}
	},
	'a task runs, waits, sleeps and blocks': () => {
		const pixels = new RowPixels(20);
		pixels.clear();
		sampleTask(modelOf(), 10, 0, 500, 0, 20, pixels);
		const at = (...spans) => Array.from({ length: 20 }, (_, x) => spans.some(([a, b]) => x >= a && x < b) ? 1 : 0);
		near(pixels.run, at([0, 2], [6, 8], [15, 18]));
		near(pixels.wait, at([2, 6], [13, 15]));
		near(pixels.sleep, at([8, 13]));
		near(pixels.blocked, at([18, 20]));
	},
	'a task that died is nothing any more': () => {
		const pixels = new RowPixels(10);
		pixels.clear();
		sampleTask(modelOf(), 11, 0, 1000, 0, 10, pixels);
		near(pixels.run, [0, 1, 1, 0, 0, 0, 1, 1, 0, 0]);
		near(pixels.sleep, [0, 0, 0, 1, 1, 1, 0, 0, 0, 0]);
		near(pixels.unknown, new Array(10).fill(0));
	},
	'many slices of a task on a pixel are their sums': () => {
		const lane = Array.from({ length: 1000 }, (_, i) => ({ start: i * 100 + 30, end: i * 100 + 60, runner: 3, before: 1, after: i % 2 ? 3 : 2, wait: 20 }));
		const pixels = new RowPixels(10);
		pixels.clear();
		sampleTask(modelOf({ lanes: [lane, []], to_ns: 100000 }), 10, 0, 10000, 0, 10, pixels);
		near(pixels.run, new Array(10).fill(0.3));
		near(pixels.sleep, new Array(10).fill(0.25));
		near(pixels.blocked, new Array(10).fill(0.25));
		near(pixels.wait, new Array(10).fill(0.2));
	},
	'a task is drawn by its levels where there are no slices': () => {
		const pixels = new RowPixels(1000);
		const model = modelOf({ slices: false, rows: 2 });
		pixels.clear();
		sampleTask(model, 11, 0, 10, 0, 1000, pixels);
		near([99, 100, 299, 300, 599, 600, 799, 800].map((x) => pixels.run[x]), [0, 1, 1, 0, 0, 1, 1, 0]);
		near([49, 50, 99, 100].map((x) => pixels.wait[x]), [0, 1, 1, 0]);
		assert.deepEqual([10, 11, 12, 99].map((tid) => model.coversTask(tid)), [true, true, false, false]);
		assert.equal(modelOf().coversTask(99), true, 'that it did not run');
		assert.deepEqual(model.rankTasks().map(([tid]) => tid), [11, 10]);
	},
	'tasks that ran most come first': () =>
		assert.deepEqual(modelOf().rankTasks().map(([tid]) => tid), [11, 10, 12]),
	'the next slice of any of some tasks': () => {
		assert.equal(modelOf().nextSliceOf(new Set([10, 11]), 1000), 2);
		assert.equal(modelOf().nextSliceOf(new Set([10, 99]), 3000), 5);
		assert.equal(modelOf().nextSliceOf(new Set([12]), 0), -1);
	},
	'statistics of a range are of what is in it': () => {
		const { tasks, cpus } = rangeStatistics(modelOf(), 500, 5000);
		assert.deepEqual(tasks, [{ tid: 11, comm: 'b', run_ns: 2000, waits: 1, wait_ns: 500, max_ns: 500 },
			{ tid: 10, comm: 'a', run_ns: 1500, waits: 1, wait_ns: 2000, max_ns: 2000 }]);
		assert.deepEqual(cpus, [{ cpu: 0, busy_ns: 3500, unknown_ns: 0, offline_ns: 0 }, { cpu: 5, busy_ns: 0, unknown_ns: 1000, offline_ns: 0 }]);
	},
	'statistics of a range without slices are of its CPUs': () => {
		const { tasks, cpus, hasTasks } = rangeStatistics(modelOf({ slices: false, buckets: 100 }), 500, 5000);
		assert.deepEqual([tasks, hasTasks], [[], false]);
		near(cpus.map((row) => row.busy_ns), [3500, 0]);
		near(cpus.map((row) => row.unknown_ns), [0, 1000]);
	},
	'tasks are found by name, thread and process': () => {
		const found = (text) => findTasks(TASKS, text).map(([tid]) => tid);
		assert.deepEqual([' oth', '12', '10', '1', '', 'b'].map(found), [[12], [12], [10, 11], [], [], [11]]);
	},
	'a task has the same colour everywhere, and neighbours have others': () => {
		assert.equal(taskHue(1234), taskHue(1234));
		const hues = new Set(Array.from({ length: 64 }, (_, i) => taskHue(1000 + i)));
		assert.ok(hues.size >= 10, `64 tasks have ${hues.size} colours`);
	},

	'the moment under the pointer stays when zooming': () => {
		const view = new Viewport(1e9, 1000);
		view.zoom(0.5, 250);
		assert.deepEqual([view.from, view.to, view.toTime(250)], [125e6, 625e6, 250e6]);
		assert.equal(view.toPixel(view.toTime(17)), 17);
	},
	'a window stays within the recording': () => {
		const view = new Viewport(1000, 100);
		view.show(-500, -100);
		assert.deepEqual([view.from, view.to], [0, 400]);
		view.pan(1e9);
		assert.deepEqual([view.from, view.to], [600, 1000]);
		view.zoom(1e9);
		assert.deepEqual([view.from, view.to], [0, 1000]);
		view.zoom(1e-9);
		assert.equal(view.to - view.from, 100);
		view.show(NaN, NaN);
		assert.equal(view.to - view.from, 100);
	},
	'who follows a window is told of changes, and of nothing else': () => {
		const view = new Viewport(1000, 100);
		let told = 0;
		view.onchange(() => told++);
		view.show(0, 500);
		view.show(0, 500);
		view.fit();
		view.pan(5);
		assert.equal(told, 2);
	},
	'what is in sight already is not moved to': () => {
		const view = new Viewport(1e6, 100);
		view.show(0, 1000);
		view.reveal(100, 200);
		assert.deepEqual([view.from, view.to], [0, 1000]);
		view.reveal(5000, 5100);
		assert.deepEqual([view.from, view.to], [4550, 5550]);
		view.reveal(10000, 20000);
		assert.deepEqual([view.from, view.to], [7500, 22500]);
	},
	'marks of an axis are at 1, 2, 5 of their unit': () => {
		assert.deepEqual([0.01, 1, 30, 1e4, 6e6, 2e9, 8e11].map((ns) => tickStep(ns, 100)), [1, 100, 5000, 1e6, 1e9, 300e9, 86400e9]);
		assert.deepEqual(axisTicks(95, 1000, 100, 20), { step: 200, base: 0, ticks: [200, 400, 600, 800, 1000] });
	},
	'far from the origin labels count from a base': () => {
		const { step, base, ticks } = axisTicks(5e9 + 150, 5e9 + 1150, 1000, 100);
		assert.deepEqual([step, base], [100, 5e9]);
		assert.equal(ticks[0], 5e9 + 200);
		assert.deepEqual([formatTick(0, 100), formatTick(200, 100), formatTick(1500, 100), formatTick(2e9, 1e8)], ['0', '200 ns', '1.5 µs', '2.0 s']);
	},
	'lengths have their unit': () =>
		assert.deepEqual([0, 7, 1234, 45678, 1.5e6, 2.5e9, 75e9, 90061e9].map((ns) => formatNs(ns)),
			['0 ns', '7 ns', '1.23 µs', '45.7 µs', '1.50 ms', '2.50 s', '0:01:15', '1 d 1:01:01']),
	'moments are told to the nanosecond': () => {
		assert.equal(formatMoment(2345678901), '2.345 678 901 s');
		assert.equal(formatMoment(-1), '-0.000 000 001 s');
		assert.equal(formatMoment(604800e9 + 1), '604800.000 000 001 s');
	},
	'the time of day is exact, and nothing where it is not known': () => {
		assert.equal(formatWall('1763792140000000000', 1999999, 6), '06:15:40.001999 UTC');
		assert.equal(formatWall(null, 5), '');
	},
};

let n = 0;
for (const [name, run] of Object.entries(cases)) {
	n++;
	try {
		await run();
		console.log(`ok ${n} - ${name}`);
	} catch (error) {
		console.log(`not ok ${n} - ${name}`);
		console.error(`# ${error.stack.replaceAll('\n', '\n# ')}`);
		process.exitCode = 1;
	}
}
console.log(`1..${n}`);
