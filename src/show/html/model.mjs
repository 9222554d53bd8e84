// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What a part of a recording tells, as answers: what ran on a CPU, what a task did, how much of it falls on each pixel. Pure functions of
// numbers, without a document; times are nanoseconds from the page's origin.

export const IDLE = 0;
export const UNKNOWN = 1;
export const OFFLINE = 2;
const FIRST_TASK = 3;
const FIRST_WAKER = 2;
// With fewer slices on a pixel than this they are gone through one by one; else buckets or sums stand for them.
const SLICES_PER_PIXEL = 2;
// Behind the window: slices whose waits may reach into it.
const MOST_BEYOND = 64;
// What is narrower has no label.
const LABEL_PIXELS = 24;

export const CAME = ['', 'woken up', 'preempted', 'throttled'];
export const WENT = ['', 'preempted', 'sleeping', 'blocked', 'stopped', 'dead', 'throttled'];
const WENT_WAITING = [false, true, false, false, false, false, true];

export const TASK_STATES = ['run', 'wait', 'blocked', 'sleep', 'unknown'];
const RUN = 0;
const WAIT = 1;
const BLOCKED = 2;
const SLEEP = 3;
const NOT_KNOWN = 4;
// What a task is in after it went: one that is stopped sleeps, one that is dead is not there.
const WENT_STATE = [NOT_KNOWN, -1, SLEEP, BLOCKED, SLEEP, -1, -1];

// The first index in [low, high) whose value is above `value`.
export function firstAbove(numbers, value, low, high) {
	while (low < high) {
		const middle = (low + high) >>> 1;

		if (numbers[middle] > value)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

// What is known of the interval that a part covers.
export class PartModel {
	constructor(part, cpus) {
		this.part = part;
		this.cpus = cpus;
		this.from = part.from_ns;
		this.to = part.to_ns;
		this.tasks = part.tasks;
		this.count = part.slices ?? 0;
		this.byTid = new Map(part.tasks.map(([tid], k) => [tid, k]));
		this.allLevels = pyramid(part.levels, cpus.length);
		this.rows = new Map((part.task_levels?.tasks ?? []).map((k, row) => [k, row]));
		this.taskLevels = pyramid(part.task_levels, this.rows.size);
		this.sums = new Map();
	}

	// Those that are there, the finest first; where a part comes in pieces the coarser ones are there sooner.
	get levels() {
		return this.allLevels.filter(({ number }) => this.part.has(`levels.${number}.depth`));
	}

	// They come last, where a part comes in pieces.
	get hasSlices() {
		return this.part.has('slices.from');
	}

	// What is shorter is not told apart.
	get grain() {
		return this.hasSlices ? 0 : this.levels[0]?.ns ?? Infinity;
	}

	// Of lane l: slices first[l] to first[l + 1]; each with its start, end and runner.
	get slices() {
		return this.sliceColumns ??= this.decodeSlices();
	}

	decodeSlices() {
		const { part, count } = this;
		const nr = part.column('slices.nr', this.cpus.length);
		const gap = part.column('slices.gap', count);
		const length = part.column('slices.ns', count);
		const first = new Uint32Array(nr.length + 1);
		const start = new Float64Array(count);
		const end = new Float64Array(count);

		for (let lane = 0, i = 0; lane < nr.length; lane++) {
			let at = this.from;

			for (const last = Math.min(count, i + nr[lane]); i < last; i++) {
				start[i] = at += gap[i];
				end[i] = at += length[i];
			}
			first[lane + 1] = i;
		}
		part.decoded.delete('slices.gap');
		part.decoded.delete('slices.ns');
		return { first, start, end, runner: part.column('slices.runner', count, Uint32Array) };
	}

	get how() {
		return this.howColumn ??= this.part.column('slices.how', this.count);
	}

	get wait() {
		return this.waitColumn ??= this.part.column('slices.wait', this.count);
	}

	get waker() {
		return this.part.column('slices.waker', this.count, Uint32Array);
	}

	get origin() {
		return this.part.column('slices.from', this.count, Uint32Array);
	}

	// Its columns.
	level({ number, buckets }) {
		const column = (name, Kind) => this.part.column(`levels.${number}.${name}`, buckets * this.cpus.length, Kind);

		return { runner: column('runner', Uint32Array), busy: column('busy'), unknown: column('unknown'), wait: column('wait'), depth: column('depth') };
	}

	taskLevel(name) {
		return this.part.column(`task_levels.${name}`, this.taskLevels.total);
	}

	// Whether it has what a task did; `hasSlices`: of all tasks.
	tells(tid) {
		return this.hasSlices || this.part.has('task_levels.unknown') && this.rows.has(this.byTid.get(tid));
	}

	// A runner's task as [tid, tgid, comm], or null.
	task(runner) {
		return runner >= FIRST_TASK && this.tasks[runner - FIRST_TASK] || null;
	}

	tidOf(runner) {
		return this.task(runner)?.[0] ?? -1;
	}

	// Index of the slice that covers `at` on a lane, or -1.
	sliceAt(lane, at) {
		const { first, start, end } = this.slices;
		const i = firstAbove(end, at, first[lane], first[lane + 1]);

		return i < first[lane + 1] && start[i] <= at ? i : -1;
	}

	// The slice that covers `at`, else the next one of the lane, else the last one; -1: it has none.
	closestSlice(lane, at) {
		const { first, end } = this.slices;
		const i = firstAbove(end, at, first[lane], first[lane + 1]);

		return first[lane] === first[lane + 1] ? -1 : Math.min(i, first[lane + 1] - 1);
	}

	// The first slice after `at` of a task in a set of tids, or -1.
	nextSliceOf(tids, at) {
		const { start } = this.slices;
		const next = [...tids].map((tid) => this.byTid.get(tid)).filter((k) => k !== undefined).map((k) => {
			const own = this.taskSlices(k);
			return own[this.positionIn(own, at) + 1] ?? -1;
		});

		return next.reduce((best, i) => i >= 0 && (best < 0 || start[i] < start[best]) ? i : best, -1);
	}

	laneOf(i) {
		return firstAbove(this.slices.first, i, 0, this.cpus.length + 1) - 1;
	}

	// Slices of task k in the order of time. All tasks' indexes are laid out at once, each task's sorted when it is asked for:
	// on one CPU they are in order.
	taskSlices(k) {
		this.byTask ??= this.groupByTask();
		const { first, index, sorted } = this.byTask;
		const { start } = this.slices;
		const own = index.subarray(first[k], first[k + 1]);

		if (!sorted[k]) {
			sorted[k] = 1;
			if (own.some((i, n) => n && start[i] < start[own[n - 1]]))
				own.sort((a, b) => start[a] - start[b]);
		}
		return own;
	}

	groupByTask() {
		const { runner } = this.slices;
		const first = new Uint32Array(this.tasks.length + 1);
		const index = new Uint32Array(this.count);

		for (let i = 0; i < this.count; i++)
			if (runner[i] >= FIRST_TASK)
				first[runner[i] - FIRST_TASK + 1]++;
		for (let k = 1; k <= this.tasks.length; k++)
			first[k] += first[k - 1];
		const next = first.slice();
		for (let i = 0; i < this.count; i++)
			if (runner[i] >= FIRST_TASK)
				index[next[runner[i] - FIRST_TASK]++] = i;
		return { first, index, sorted: new Uint8Array(this.tasks.length) };
	}

	// The slice of the same task `step` further on (-1: before), or -1.
	neighbour(i, step) {
		const runner = this.slices.runner[i];

		if (!this.task(runner))
			return -1;
		const own = this.taskSlices(runner - FIRST_TASK);
		return own[this.positionIn(own, this.slices.start[i]) + step] ?? -1;
	}

	// Tasks that have a row, those that ran most first.
	rankTasks() {
		const run = new Float64Array(this.tasks.length);

		if (this.hasSlices) {
			const { start, end, runner } = this.slices;
			for (let i = 0; i < this.count; i++)
				if (runner[i] >= FIRST_TASK)
					run[runner[i] - FIRST_TASK] += end[i] - start[i];
		}
		for (const [k, row] of this.rows)
			run[k] = this.sumRow(row);
		const rows = this.hasSlices ? this.tasks.map((_, k) => k) : [...this.rows.keys()];
		return rows.sort((a, b) => run[b] - run[a]).map((k) => this.tasks[k]);
	}

	// How long a row's task ran, in the coarsest buckets.
	sumRow(row) {
		const level = this.taskLevels.at(-1);
		const at = level.at + row * level.buckets;

		return this.taskLevel('run').subarray(at, at + level.buckets).reduce((sum, share) => sum + share, 0);
	}

	// Where in a task's slices the last one stands that began at `at` or before; -1: none did.
	positionIn(own, at) {
		const { start } = this.slices;
		let low = 0;
		let high = own.length;

		while (low < high) {
			const middle = (low + high) >>> 1;

			if (start[own[middle]] > at)
				high = middle;
			else
				low = middle + 1;
		}
		return low - 1;
	}

	// The slice of task k that covers `at`; with `next` else the first one after it; or -1.
	taskSliceAt(k, at, next = false) {
		const own = this.taskSlices(k);
		const position = this.positionIn(own, at);

		if (position >= 0 && this.slices.end[own[position]] >= at)
			return own[position];
		return next ? own[position + 1] ?? own[position] ?? -1 : -1;
	}

	// Who woke slice i: { what: 'task' | 'interrupt', task, slice (-1: was not seen), at_ns }, or null.
	wakerOf(i) {
		const code = this.waker[i];
		const at_ns = this.slices.start[i] - this.wait[i];

		if (code === 0)
			return null;
		if (code === 1)
			return { what: 'interrupt', task: null, slice: -1, at_ns };
		const task = this.tasks[code - FIRST_WAKER] ?? null;
		return { what: 'task', task, slice: task ? this.taskSliceAt(code - FIRST_WAKER, at_ns) : -1, at_ns };
	}

	// Slices that slice i woke, at most `limit`.
	wokenBy(i, limit) {
		const { start, end, runner } = this.slices;
		const { waker, wait, count } = this;
		const code = runner[i] - FIRST_TASK + FIRST_WAKER;
		const woken = [];

		if (!this.task(runner[i]))
			return woken;
		for (let j = 0; j < count && woken.length < limit; j++) {
			if (waker[j] !== code)
				continue;
			const at = start[j] - wait[j];
			if (at >= start[i] && at <= end[i])
				woken.push(j);
		}
		return woken.sort((a, b) => start[a] - start[b]);
	}

	// Who had a lane in [from, to], as [runner, ns], the most first; the rest of the time it was idle.
	ranMeanwhile(lane, from, to) {
		const { first, start, end, runner } = this.slices;
		const sums = new Map();

		for (let i = firstAbove(end, from, first[lane], first[lane + 1]); i < first[lane + 1] && start[i] < to; i++) {
			const ns = Math.min(end[i], to) - Math.max(start[i], from);
			sums.set(runner[i], (sums.get(runner[i]) ?? 0) + ns);
		}
		const list = [...sums].sort((a, b) => b[1] - a[1]);
		const idle = to - from - list.reduce((sum, [, ns]) => sum + ns, 0);
		return idle > 0 ? [...list, [IDLE, idle]] : list;
	}

	// What task k did until its slices' borders: sums for drawing many slices on a pixel.
	taskSums(k) {
		if (!this.sums.has(k))
			this.sums.set(k, this.sumTask(this.taskSlices(k)));
		return this.sums.get(k);
	}

	sumTask(own) {
		const sums = TASK_STATES.map(() => new Float64Array(own.length + 1));
		const { start, end } = this.slices;
		const gap = {};

		own.forEach((i, n) => {
			this.gapAfter(own, n, gap);
			for (const sum of sums)
				sum[n + 1] = sum[n];
			sums[RUN][n + 1] += end[i] - start[i];
			sums[WAIT][n + 1] += gap.to - gap.waits;
			if (gap.state >= 0)
				sums[gap.state][n + 1] += gap.waits - gap.from;
		});
		return sums;
	}

	// Sets `gap` to what the task did after its nth slice: .state in [from, waits), -1 where it is not there; it waits for a CPU in [waits, to).
	gapAfter(own, n, gap) {
		const i = own[n];
		const next = own[n + 1];
		const went = (this.how[i] >> 2) & 7;

		gap.from = this.slices.end[i];
		gap.to = next === undefined ? this.to : this.slices.start[next];
		gap.waits = WENT_WAITING[went] ? gap.from : next === undefined ? gap.to : Math.max(gap.from, gap.to - this.wait[next]);
		gap.state = WENT_STATE[went];
	}
}

// The levels of columns: [{ number, ns, buckets, at }], the finest first; of those that stand in one column where each begins, and .total numbers in all.
function pyramid(shape, rows) {
	const levels = [];
	let total = 0;

	for (let l = 0; l < (shape?.count ?? 0); l++) {
		const buckets = Math.ceil(shape.buckets / 4 ** l);

		levels.push({ number: l, ns: shape.ns * 4 ** l, buckets, at: total });
		total += buckets * rows;
	}
	return Object.assign(levels, { total });
}

// The coarsest level whose buckets are no wider than a pixel; the finest where all are.
export function pickLevel(levels, nsPerPixel) {
	return levels.findLast((level) => level.ns <= nsPerPixel) ?? levels[0] ?? null;
}

// What is drawn of a lane, a number per pixel: shares of 0..1 (busy, unknown, offline), the tid that had the most of it, where
// slices begin that are wide enough to be told apart, the longest wait that ended there, the most that ran or waited. Slices that
// have room for a label are in .wide: [left, right, runner, model].
export class LanePixels {
	constructor(width) {
		this.width = width;
		for (const name of ['busy', 'unknown', 'offline', 'most', 'wait', 'depth'])
			this[name] = new Float64Array(width);
		this.tid = new Int32Array(width);
		this.edge = new Uint8Array(width);
		this.wide = [];
	}

	clear() {
		for (const name of ['busy', 'unknown', 'offline', 'most', 'wait', 'depth', 'edge'])
			this[name].fill(0);
		this.tid.fill(-1);
		this.wide.length = 0;
	}

	add(x, share, runner, tid) {
		if (runner === UNKNOWN)
			this.unknown[x] += share;
		else if (runner === OFFLINE)
			this.offline[x] += share;
		else
			this.busy[x] += share;
		if (share > this.most[x]) {
			this.most[x] = share;
			this.tid[x] = tid;
		}
	}
}

// Whether what is drawn of a window as wide as this is all there.
export function tellsWindow(model, from, nsPerPixel, pixels) {
	const level = pickLevel(model.allLevels, nsPerPixel);
	const wants = (_, lane) => wantsSlices(model, lane, level, from, nsPerPixel, 0, pixels);

	return model.hasSlices || pickLevel(model.levels, nsPerPixel) === level && !model.cpus.some(wants);
}

// Fills the pixels x0 to x1 of a lane; pixel 0 begins at `from`.
export function sampleLane(model, lane, from, nsPerPixel, x0, x1, pixels) {
	const level = pickLevel(model.levels, nsPerPixel);
	const drawn = model.hasSlices && wantsSlices(model, lane, level, from, nsPerPixel, x0, x1);
	const fine = level !== null && level.ns <= nsPerPixel;

	if (level && (fine || !drawn))
		sampleLevels(model, lane, level, from, nsPerPixel, x0, x1, pixels, !drawn);
	if (drawn)
		sampleSlices(model, lane, from, nsPerPixel, x0, x1, pixels);
	if (drawn && !fine)
		sampleDepth(model, lane, from, nsPerPixel, x0, x1, pixels);
}

// Whether these pixels are to be drawn from slices. Before these are there their number tells: the first drawing is not to wait for
// what it does not show.
export function wantsSlices(model, lane, level, from, nsPerPixel, x0, x1) {
	if (!model.part.has('slices.nr'))
		return false;
	if (!level || level.ns > nsPerPixel)
		return true;
	const share = Math.min(1, (x1 - x0) * nsPerPixel / (model.to - model.from));
	return model.part.column('slices.nr', model.cpus.length)[lane] * share <= (x1 - x0) * SLICES_PER_PIXEL;
}

function sampleLevels(model, lane, level, from, nsPerPixel, x0, x1, pixels, whole) {
	const { runner, busy, unknown, wait, depth } = model.level(level);
	const at = lane * level.buckets;
	const begin = from + x0 * nsPerPixel - model.from;
	const last = Math.min(level.buckets, Math.ceil((begin + (x1 - x0) * nsPerPixel) / level.ns));

	for (let b = Math.max(0, Math.floor(begin / level.ns)); b < last; b++) {
		const left = x0 + (b * level.ns - begin) / nsPerPixel;
		const right = left + level.ns / nsPerPixel;
		const i = at + b;

		for (let x = Math.max(x0, Math.floor(left)); x < Math.min(x1, right); x++) {
			pixels.depth[x] = Math.max(pixels.depth[x], depth[i]);
			if (!whole)
				continue;
			const share = Math.min(right, x + 1) - Math.max(left, x);
			pixels.wait[x] = Math.max(pixels.wait[x], wait[i] * 1000);
			addBucket(pixels, x, share, runner[i], busy[i] / 255, unknown[i] / 255, model);
		}
	}
}

function addBucket(pixels, x, share, runner, busy, unknown, model) {
	const most = share * busy;

	pixels.busy[x] += most;
	pixels[runner === OFFLINE ? 'offline' : 'unknown'][x] += share * unknown;
	if (most > pixels.most[x] && runner >= FIRST_TASK) {
		pixels.most[x] = most;
		pixels.tid[x] = model.tidOf(runner);
	}
}

function sampleSlices(model, lane, from, nsPerPixel, x0, x1, pixels) {
	const { first, start, end, runner } = model.slices;
	const { wait } = model;
	const begin = from + x0 * nsPerPixel;
	const finish = from + x1 * nsPerPixel;

	for (let i = firstAbove(end, begin, first[lane], first[lane + 1]); i < first[lane + 1] && start[i] < finish; i++) {
		const left = Math.max(x0, (start[i] - from) / nsPerPixel);
		const right = Math.min(x1, (end[i] - from) / nsPerPixel);
		const x = Math.min(Math.floor(left), x1 - 1);

		if (start[i] >= begin)
			pixels.wait[x] = Math.max(pixels.wait[x], wait[i]);
		spread(left, right, x0, x1, (px, share) => pixels.add(px, share, runner[i], model.tidOf(runner[i])));
		if (right - left >= 3 && start[i] >= begin)
			pixels.edge[Math.round(left)] = 1;
		if (right - left >= LABEL_PIXELS)
			pixels.wide.push([left, right, runner[i], model]);
	}
}

// Where buckets are wider than pixels: how many ran or waited, of those that ran on this lane next.
function sampleDepth(model, lane, from, nsPerPixel, x0, x1, pixels) {
	const { first, start, end } = model.slices;
	const { wait } = model;
	const change = new Float64Array(x1 - x0 + 1);
	const toPixel = (ns) => Math.min(x1, Math.max(x0, Math.round((ns - from) / nsPerPixel))) - x0;
	const finish = from + x1 * nsPerPixel;
	let beyond = 0;

	for (let i = firstAbove(end, from + x0 * nsPerPixel, first[lane], first[lane + 1]); i < first[lane + 1] && beyond < MOST_BEYOND; i++) {
		beyond += start[i] >= finish;
		if (!(wait[i] > 0))
			continue;
		change[toPixel(start[i] - wait[i])]++;
		change[toPixel(start[i])]--;
	}
	for (let x = x0, waiting = 0; x < x1; x++) {
		waiting += change[x - x0];
		pixels.depth[x] = Math.max(pixels.depth[x], waiting > 0 ? 1 + waiting : 0);
	}
}

// An interval of pixels as whole ones, if it has two: then its borders are sharp. Else as shares.
function spread(left, right, x0, x1, add) {
	if (right - left >= 2) {
		for (let x = Math.round(left); x < Math.round(right); x++)
			add(x, 1);
		return;
	}
	for (let x = Math.floor(left); x < right && x < x1; x++)
		add(x, Math.min(right, x + 1) - Math.max(left, x));
}

// What is drawn of a task's row: shares of each pixel; in .wide what has room for a label, as [left, right, state].
export class RowPixels {
	constructor(width) {
		this.width = width;
		for (const state of TASK_STATES)
			this[state] = new Float64Array(width);
		this.wide = [];
	}

	clear() {
		for (const state of TASK_STATES)
			this[state].fill(0);
		this.wide.length = 0;
	}
}

// As sampleLane(), of the task with this tid, which the part tells of.
export function sampleTask(model, tid, from, nsPerPixel, x0, x1, pixels) {
	const k = model.byTid.get(tid);

	if (k === undefined)
		return;
	if (!model.hasSlices) {
		sampleTaskLevels(model, k, from, nsPerPixel, x0, x1, pixels);
		return;
	}
	const own = model.taskSlices(k);
	const low = Math.max(0, model.positionIn(own, from + x0 * nsPerPixel));
	const high = model.positionIn(own, from + x1 * nsPerPixel);
	if (high - low > (x1 - x0) * SLICES_PER_PIXEL)
		sampleTaskSums(model, k, own, from, nsPerPixel, x0, x1, pixels);
	else
		sampleTaskSlices(model, own, low, high, from, nsPerPixel, x0, x1, pixels);
}

function sampleTaskSlices(model, own, low, high, from, nsPerPixel, x0, x1, pixels) {
	const { start, end } = model.slices;
	const gap = {};
	const put = (state, begin, finish) => {
		const left = Math.max(x0, (begin - from) / nsPerPixel);
		const right = Math.min(x1, (finish - from) / nsPerPixel);
		const shares = pixels[TASK_STATES[state]];

		spread(left, right, x0, x1, (x, share) => shares[x] += share);
		if (right - left >= LABEL_PIXELS)
			pixels.wide.push([left, right, TASK_STATES[state]]);
	};

	if (low === 0 && own.length)
		put(WAIT, start[own[0]] - model.wait[own[0]], start[own[0]]);
	for (let n = low; n <= high; n++) {
		model.gapAfter(own, n, gap);
		put(RUN, start[own[n]], end[own[n]]);
		if (gap.state >= 0)
			put(gap.state, gap.from, gap.waits);
		put(WAIT, gap.waits, gap.to);
	}
}

function sampleTaskSums(model, k, own, from, nsPerPixel, x0, x1, pixels) {
	const sums = model.taskSums(k);
	const { start } = model.slices;
	const shares = TASK_STATES.map((state) => pixels[state]);
	const gap = {};
	let here = new Float64Array(TASK_STATES.length);
	let before = new Float64Array(TASK_STATES.length);
	let n = model.positionIn(own, from + x0 * nsPerPixel);

	for (let x = x0; x <= x1; x++) {
		const at = from + x * nsPerPixel;

		n = gallop(own, start, at, n);
		sumsAt(model, own, sums, n, at, gap, here);
		for (let state = 0; x > x0 && state < here.length; state++)
			shares[state][x - 1] += (here[state] - before[state]) / nsPerPixel;
		[here, before] = [before, here];
	}
}

// From position n on: where in `own` the last slice stands that began at `at` or before.
function gallop(own, start, at, n) {
	let step = 1;

	while (n + step < own.length && start[own[n + step]] <= at)
		step *= 2;
	let low = n + (step >> 1);
	let high = Math.min(n + step, own.length);
	while (low + 1 < high) {
		const middle = (low + high) >>> 1;

		if (start[own[middle]] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

function sumsAt(model, own, sums, n, at, gap, out) {
	for (let state = 0; state < out.length; state++)
		out[state] = n < 0 ? 0 : sums[state][n];
	if (n < 0)
		return;
	model.gapAfter(own, n, gap);
	out[RUN] += Math.min(at, gap.from) - model.slices.start[own[n]];
	if (at > gap.from && gap.state >= 0)
		out[gap.state] += Math.min(at, gap.waits) - gap.from;
	if (at > gap.waits)
		out[WAIT] += at - gap.waits;
}

function sampleTaskLevels(model, k, from, nsPerPixel, x0, x1, pixels) {
	const level = pickLevel(model.taskLevels, nsPerPixel);
	const at = level.at + model.rows.get(k) * level.buckets;
	const begin = from - model.from;
	for (let b = Math.max(0, Math.floor((begin + x0 * nsPerPixel) / level.ns)); b < level.buckets; b++) {
		const left = Math.max(x0, (b * level.ns - begin) / nsPerPixel);
		const right = Math.min(x1, ((b + 1) * level.ns - begin) / nsPerPixel);

		if (left >= x1)
			break;
		for (const state of ['run', 'wait', 'blocked', 'unknown']) {
			const share = model.taskLevel(state)[at + b] / 255;
			for (let x = Math.floor(left); share && x < right && x < x1; x++)
				pixels[state][x] += share * (Math.min(right, x + 1) - Math.max(left, x));
		}
	}
}

// What happened in [from, to]: per task its run time and waits that ended there, the busiest first; per CPU its time. Without
// slices the CPUs alone, to the width of a bucket.
export function rangeStatistics(model, from, to) {
	const tasks = new Map();
	const cpus = model.cpus.map((cpu) => ({ cpu, busy_ns: 0, unknown_ns: 0, offline_ns: 0 }));

	cpus.forEach((row, lane) => model.hasSlices ? addSlices(model, lane, from, to, row, tasks) : addBuckets(model, lane, from, to, row));
	return { tasks: [...tasks.values()].sort((a, b) => b.run_ns - a.run_ns), cpus, hasTasks: model.hasSlices };
}

function addSlices(model, lane, from, to, row, tasks) {
	const { first, start, end, runner } = model.slices;

	for (let i = firstAbove(end, from, first[lane], first[lane + 1]); i < first[lane + 1] && start[i] < to; i++) {
		const ns = Math.min(end[i], to) - Math.max(start[i], from);
		const task = model.task(runner[i]);

		row[runner[i] === UNKNOWN ? 'unknown_ns' : runner[i] === OFFLINE ? 'offline_ns' : 'busy_ns'] += ns;
		if (!task)
			continue;
		const sum = tasks.get(runner[i]) ?? { tid: task[0], comm: task[2], run_ns: 0, waits: 0, wait_ns: 0, max_ns: 0 };
		tasks.set(runner[i], sum);
		sum.run_ns += ns;
		if (model.wait[i] > 0 && start[i] >= from) {
			sum.waits++;
			sum.wait_ns += model.wait[i];
			sum.max_ns = Math.max(sum.max_ns, model.wait[i]);
		}
	}
}

function addBuckets(model, lane, from, to, row) {
	const level = model.levels[0];
	const { runner, busy, unknown } = model.level(level);

	for (let b = Math.max(0, Math.floor((from - model.from) / level.ns)); b < level.buckets; b++) {
		const begin = model.from + b * level.ns;
		const ns = Math.min(begin + level.ns, to) - Math.max(begin, from);
		const i = lane * level.buckets + b;

		if (ns <= 0)
			break;
		row.busy_ns += ns * busy[i] / 255;
		row[runner[i] === OFFLINE ? 'offline_ns' : 'unknown_ns'] += ns * unknown[i] / 255;
	}
}

// Tasks, as [tid, tgid, comm], whose name has the text, or whose thread or process it is.
export function findTasks(tasks, text) {
	const wanted = text.trim().toLowerCase();

	if (!wanted)
		return [];
	return tasks.filter(([tid, tgid, comm]) => String(tid) === wanted || String(tgid) === wanted || comm.toLowerCase().includes(wanted));
}

// Okabe and Ito's colours, which eyes of all kinds tell apart, each in two lightnesses; black or white can be read on all of them.
export const HUES = ['#e69f00', '#56b4e9', '#009e73', '#f0e442', '#3b8fd0', '#d55e00', '#cc79a7',
	'#b87a00', '#8fd0f5', '#3fc79c', '#b8ad1c', '#1f6aa5', '#f08a4b', '#a2527e'];

// Which of them a task has; the same on every page.
export function taskHue(tid) {
	return (Math.imul(tid, 0x9e3779b1) >>> 8) % HUES.length;
}
