// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Queries on a part of a recording (docs/internals/html.md): what ran on a CPU, what a task did,
// and how much of each falls on a pixel. All are pure functions of numbers that need no document.
// Times are in nanoseconds from the page's origin.

export const IDLE = 0;
export const UNKNOWN = 1;
export const OFFLINE = 2;
const FIRST_TASK = 3; // runner code of the part's first task
const FIRST_WAKER = 2; // waker code of the part's first task
// Slices are drawn one by one if there are, on average, at most this many per pixel. Otherwise a
// lane is drawn from the buckets of a level, and a task's row from sums.
const SLICES_PER_PIXEL = 2;
// A task may wait in the window and run only after the window. To find such waits, the queue depth
// also looks at this many slices of the lane after the window.
const MOST_BEYOND = 64;
// Intervals narrower than this get no label.
const LABEL_PIXELS = 24;

// A task's state before a slice and after it, by the codes in the column slices.how.
export const CAME = ['', 'woken up', 'preempted', 'throttled'];
export const WENT = ['', 'preempted', 'sleeping', 'blocked', 'stopped', 'dead', 'throttled'];
const WENT_WAITING = [false, true, false, false, false, false, true];

export const TASK_STATES = ['run', 'wait', 'blocked', 'sleep', 'unknown'];
const RUN = 0;
const WAIT = 1;
const BLOCKED = 2;
const SLEEP = 3;
const NOT_KNOWN = 4;
// The task state to draw after a slice, by the codes of WENT; a stopped task is drawn as sleeping.
// -1: none, because the task is dead, or waits for a CPU (WENT_WAITING).
const WENT_STATE = [NOT_KNOWN, -1, SLEEP, BLOCKED, SLEEP, -1, -1];

// Return the first index in [low, high) whose number is above `value`, else `high`. The numbers are
// in ascending order.
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

// The queries on one part, which covers an interval of the recording.
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

	// The levels that have been loaded, the finest first. In an HTML file the coarsest is
	// loaded first.
	get levels() {
		return this.allLevels.filter(({ number }) =>
			this.part.has(`levels.${number}.depth`)
		);
	}

	// Whether the slices have been loaded. In an HTML file they are loaded after the levels.
	get hasSlices() {
		return this.part.has('slices.from');
	}

	// The resolution of the loaded data in ns; 0: exact.
	get grain() {
		return this.hasSlices ? 0 : this.levels[0]?.ns ?? Infinity;
	}

	// The slices as { first, start, end, runner }. Lane l has the slices from index first[l] to
	// index first[l + 1] - 1. The other three have an element for each slice.
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
		return {
			first,
			start,
			end,
			runner: part.column('slices.runner', count, Uint32Array),
		};
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

	// The columns of a level.
	level({ number, buckets }) {
		const column = (name, Kind) =>
			this.part.column(
				`levels.${number}.${name}`,
				buckets * this.cpus.length,
				Kind
			);

		return {
			runner: column('runner', Uint32Array),
			busy: column('busy'),
			unknown: column('unknown'),
			wait: column('wait'),
			depth: column('depth'),
		};
	}

	taskLevel(name) {
		return this.part.column(`task_levels.${name}`, this.taskLevels.total);
	}

	// Whether the loaded data shows what a task did. Slices show it for every tid: a task
	// without any did not run.
	coversTask(tid) {
		return (
			this.hasSlices ||
			(this.part.has('task_levels.unknown') && this.rows.has(this.byTid.get(tid)))
		);
	}

	// Return the task of a runner code as [tid, tgid, comm]; null if the code is not a task's.
	task(runner) {
		return runner >= FIRST_TASK && this.tasks[runner - FIRST_TASK] || null;
	}

	tidOf(runner) {
		return this.task(runner)?.[0] ?? -1;
	}

	// Return the index of the slice that covers the time `at` on a lane, or -1.
	sliceAt(lane, at) {
		const { first, start, end } = this.slices;
		const i = firstAbove(end, at, first[lane], first[lane + 1]);

		return i < first[lane + 1] && start[i] <= at ? i : -1;
	}

	// Return the lane's slice that covers `at`, else the next one, else the last one; -1 if the
	// lane has no slices.
	closestSlice(lane, at) {
		const { first, end } = this.slices;
		const i = firstAbove(end, at, first[lane], first[lane + 1]);

		return first[lane] === first[lane + 1] ? -1 : Math.min(i, first[lane + 1] - 1);
	}

	// Return the first slice that begins after `at` and whose task is in the set `tids`, or -1.
	nextSliceOf(tids, at) {
		const { start } = this.slices;
		const next = [...tids]
			.map((tid) => this.byTid.get(tid))
			.filter((k) => k !== undefined)
			.map((k) => {
				const own = this.taskSlices(k);
				return own[this.positionIn(own, at) + 1] ?? -1;
			});

		return next.reduce(
			(best, i) => (i >= 0 && (best < 0 || start[i] < start[best]) ? i : best),
			-1
		);
	}

	laneOf(i) {
		return firstAbove(this.slices.first, i, 0, this.cpus.length + 1) - 1;
	}

	// Return the indexes of task k's slices in order of time. The first call groups all slices
	// by task, in the order of CPUs. A task's slices are sorted when they are first needed,
	// unless the task ran on only one CPU.
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

	// Return the slice of the same task that is `step` later than slice i (or earlier, if
	// negative); -1 if there is none.
	neighbour(i, step) {
		const runner = this.slices.runner[i];

		if (!this.task(runner))
			return -1;
		const own = this.taskSlices(runner - FIRST_TASK);
		return own[this.positionIn(own, this.slices.start[i]) + step] ?? -1;
	}

	// Return the tasks that can have a row, sorted by run time, the longest first.
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

	// Return the run time of a row's task, in units of 1/255 of the coarsest level's bucket.
	sumRow(row) {
		const level = this.taskLevels.at(-1);
		const at = level.at + row * level.buckets;

		return this.taskLevel('run')
			.subarray(at, at + level.buckets)
			.reduce((sum, share) => sum + share, 0);
	}

	// Return the position in `own`, a task's slices, of the last one that began at `at` or
	// earlier; -1 if there is none.
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

	// Return task k's slice that covers `at`. If there is none: -1, or with `next` the first
	// slice after `at`, else the last one before; -1 if the task has no slices.
	taskSliceAt(k, at, next = false) {
		const own = this.taskSlices(k);
		const position = this.positionIn(own, at);

		if (position >= 0 && this.slices.end[own[position]] >= at)
			return own[position];
		return next ? own[position + 1] ?? own[position] ?? -1 : -1;
	}

	// Return what woke the task of slice i; null if that is unknown, else { what, task, slice,
	// at_ns }. `what` is 'task' or 'interrupt'; `slice` is the waker's slice at at_ns, or -1.
	wakerOf(i) {
		const code = this.waker[i];
		const at_ns = this.slices.start[i] - this.wait[i];

		if (code === 0)
			return null;
		if (code === 1)
			return { what: 'interrupt', task: null, slice: -1, at_ns };
		const task = this.tasks[code - FIRST_WAKER] ?? null;
		return {
			what: 'task',
			task,
			slice: task ? this.taskSliceAt(code - FIRST_WAKER, at_ns) : -1,
			at_ns,
		};
	}

	// Return slices that began with a wakeup by slice i's task during slice i; at most `limit`.
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

	// Return what ran on a lane in [from, to], as a list of [runner, ns], the longest first.
	// Idle time is the last entry.
	ranMeanwhile(lane, from, to) {
		const { first, start, end, runner } = this.slices;
		const sums = new Map();

		for (
			let i = firstAbove(end, from, first[lane], first[lane + 1]);
			i < first[lane + 1] && start[i] < to;
			i++
		) {
			const ns = Math.min(end[i], to) - Math.max(start[i], from);
			sums.set(runner[i], (sums.get(runner[i]) ?? 0) + ns);
		}
		const list = [...sums].sort((a, b) => b[1] - a[1]);
		const idle = to - from - list.reduce((sum, [, ns]) => sum + ns, 0);
		return idle > 0 ? [...list, [IDLE, idle]] : list;
	}

	// Return the cumulative time of task k in each state: sums[state][n] is the time from the
	// beginning of the task's first slice to the beginning of its slice n. With these, drawing
	// a pixel takes about as long for many slices as for few.
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

	// Set the members of `gap` to what a task did after its slice at position n in `own`: it
	// was in .state (-1: in none) in [.from, .waits), and waited for a CPU in [.waits, .to).
	gapAfter(own, n, gap) {
		const i = own[n];
		const next = own[n + 1];
		const went = (this.how[i] >> 2) & 7;

		gap.from = this.slices.end[i];
		gap.to = next === undefined ? this.to : this.slices.start[next];
		gap.waits = WENT_WAITING[went]
			? gap.from
			: next === undefined
				? gap.to
				: Math.max(gap.from, gap.to - this.wait[next]);
		gap.state = WENT_STATE[went];
	}
}

// Return the levels of a part as [{ number, ns, buckets, at }], the finest first. If all levels
// share a column, as those of tasks do, a level begins at index .at, and the column has .total
// numbers.
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

// Return the coarsest level whose buckets are not wider than a pixel, else the finest level; null
// if there are no levels.
export function pickLevel(levels, nsPerPixel) {
	return levels.findLast((level) => level.ns <= nsPerPixel) ?? levels[0] ?? null;
}

// The data to draw of a lane, with a number for each pixel:
//   busy, unknown, offline: share of the pixel's time, 0..1
//   most, tid: largest share of one slice or bucket, and its tid (-1: not a task)
//   edge: 1 if a slice begins here that is wide enough for a visible border
//   wait: longest wait that ended here, in ns
//   depth: largest number of tasks that ran or waited here
// .wide lists the slices with space for a label, as [left, right, runner, model].
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

// Whether all data that drawing a window takes has been loaded. The window begins at `from` and has
// `pixels` pixels.
export function canDrawWindow(model, from, nsPerPixel, pixels) {
	const level = pickLevel(model.allLevels, nsPerPixel);
	const wants = (_, lane) => wantsSlices(model, lane, level, from, nsPerPixel, 0, pixels);

	return (
		model.hasSlices ||
		(pickLevel(model.levels, nsPerPixel) === level && !model.cpus.some(wants))
	);
}

// Fill the pixels x0 to x1 - 1 of a lane. Pixel 0 begins at the time `from`.
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

// Whether the pixels x0 to x1 - 1 are drawn from slices, not from a level. This depends on the
// number of the lane's slices, which is loaded before the slices themselves: so the first drawing
// need not wait for slices that it does not show.
export function wantsSlices(model, lane, level, from, nsPerPixel, x0, x1) {
	if (!model.part.has('slices.nr'))
		return false;
	if (!level || level.ns > nsPerPixel)
		return true;
	const share = Math.min(1, ((x1 - x0) * nsPerPixel) / (model.to - model.from));
	return (
		model.part.column('slices.nr', model.cpus.length)[lane] * share <=
		(x1 - x0) * SLICES_PER_PIXEL
	);
}

function sampleLevels(model, lane, level, from, nsPerPixel, x0, x1, pixels, whole) {
	const { runner, busy, unknown, wait, depth } = model.level(level);
	const at = lane * level.buckets;
	const begin = from + x0 * nsPerPixel - model.from;
	const last = Math.min(
		level.buckets,
		Math.ceil((begin + (x1 - x0) * nsPerPixel) / level.ns)
	);

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
			addBucket(
				pixels,
				x,
				share,
				runner[i],
				busy[i] / 255,
				unknown[i] / 255,
				model
			);
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

	for (
		let i = firstAbove(end, begin, first[lane], first[lane + 1]);
		i < first[lane + 1] && start[i] < finish;
		i++
	) {
		const left = Math.max(x0, (start[i] - from) / nsPerPixel);
		const right = Math.min(x1, (end[i] - from) / nsPerPixel);
		const x = Math.min(Math.floor(left), x1 - 1);

		if (start[i] >= begin)
			pixels.wait[x] = Math.max(pixels.wait[x], wait[i]);
		spread(left, right, x0, x1, (px, share) =>
			pixels.add(px, share, runner[i], model.tidOf(runner[i]))
		);
		if (right - left >= 3 && start[i] >= begin)
			pixels.edge[Math.round(left)] = 1;
		if (right - left >= LABEL_PIXELS)
			pixels.wide.push([left, right, runner[i], model]);
	}
}

// Compute the queue depth from slices, because all buckets are wider than pixels: count the tasks
// that wait at a pixel and run on this lane afterwards.
function sampleDepth(model, lane, from, nsPerPixel, x0, x1, pixels) {
	const { first, start, end } = model.slices;
	const { wait } = model;
	const change = new Float64Array(x1 - x0 + 1);
	const toPixel = (ns) =>
		Math.min(x1, Math.max(x0, Math.round((ns - from) / nsPerPixel))) - x0;
	const finish = from + x1 * nsPerPixel;
	let beyond = 0;

	for (
		let i = firstAbove(end, from + x0 * nsPerPixel, first[lane], first[lane + 1]);
		i < first[lane + 1] && beyond < MOST_BEYOND;
		i++
	) {
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

// Call add(x, share) for the pixels that [left, right) covers. The borders of an interval of two or
// more pixels are rounded to whole pixels, so that they are sharp; a shorter one adds partial
// shares.
function spread(left, right, x0, x1, add) {
	if (right - left >= 2) {
		for (let x = Math.round(left); x < Math.round(right); x++)
			add(x, 1);
		return;
	}
	for (let x = Math.floor(left); x < right && x < x1; x++)
		add(x, Math.min(right, x + 1) - Math.max(left, x));
}

// The data to draw of a task's row: for each state the share of each pixel's time, 0..1. .wide
// lists the intervals with space for a label, as [left, right, state].
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

// Fill the pixels x0 to x1 - 1 of a task's row. Pixel 0 begins at the time `from`. The model must
// cover the task (coversTask()).
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

// Return the position in `own` of the last slice that began at `at` or earlier, searching from
// position n with growing steps, since it is mostly near.
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
	for (
		let b = Math.max(0, Math.floor((begin + x0 * nsPerPixel) / level.ns));
		b < level.buckets;
		b++
	) {
		const left = Math.max(x0, (b * level.ns - begin) / nsPerPixel);
		const right = Math.min(x1, ((b + 1) * level.ns - begin) / nsPerPixel);

		if (left >= x1)
			break;
		for (const state of ['run', 'wait', 'blocked', 'unknown']) {
			const share = model.taskLevel(state)[at + b] / 255;
			for (let x = Math.floor(left); share && x < right && x < x1; x++)
				pixels[state][x] +=
					share * (Math.min(right, x + 1) - Math.max(left, x));
		}
	}
}

// Return what happened in [from, to]: for each CPU its busy, unknown and offline time; for each
// task, the busiest first, its run time and the waits that ended there. If the slices have not been
// loaded, there are no tasks, and the times of CPUs are as exact as the finest level's buckets.
export function rangeStatistics(model, from, to) {
	const tasks = new Map();
	const cpus = model.cpus.map((cpu) => ({ cpu, busy_ns: 0, unknown_ns: 0, offline_ns: 0 }));

	cpus.forEach((row, lane) =>
		model.hasSlices
			? addSlices(model, lane, from, to, row, tasks)
			: addBuckets(model, lane, from, to, row)
	);
	return {
		tasks: [...tasks.values()].sort((a, b) => b.run_ns - a.run_ns),
		cpus,
		hasTasks: model.hasSlices,
	};
}

function addSlices(model, lane, from, to, row, tasks) {
	const { first, start, end, runner } = model.slices;

	for (
		let i = firstAbove(end, from, first[lane], first[lane + 1]);
		i < first[lane + 1] && start[i] < to;
		i++
	) {
		const ns = Math.min(end[i], to) - Math.max(start[i], from);
		const task = model.task(runner[i]);

		row[
			runner[i] === UNKNOWN
				? 'unknown_ns'
				: runner[i] === OFFLINE
					? 'offline_ns'
					: 'busy_ns'
		] += ns;
		if (!task)
			continue;
		const sum = tasks.get(runner[i]) ?? {
			tid: task[0],
			comm: task[2],
			run_ns: 0,
			waits: 0,
			wait_ns: 0,
			max_ns: 0,
		};
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

	for (
		let b = Math.max(0, Math.floor((from - model.from) / level.ns));
		b < level.buckets;
		b++
	) {
		const begin = model.from + b * level.ns;
		const ns = Math.min(begin + level.ns, to) - Math.max(begin, from);
		const i = lane * level.buckets + b;

		if (ns <= 0)
			break;
		row.busy_ns += ns * busy[i] / 255;
		row[runner[i] === OFFLINE ? 'offline_ns' : 'unknown_ns'] += ns * unknown[i] / 255;
	}
}

// Return the tasks, as [tid, tgid, comm], whose name contains the text, or whose tid or tgid is the
// text. Case does not matter.
export function findTasks(tasks, text) {
	const wanted = text.trim().toLowerCase();

	if (!wanted)
		return [];
	return tasks.filter(
		([tid, tgid, comm]) =>
			String(tid) === wanted ||
			String(tgid) === wanted ||
			comm.toLowerCase().includes(wanted)
	);
}

// Colours of tasks: those of Okabe and Ito, which people with colour blindness can distinguish,
// each in two lightnesses. On each of them, black or white text is readable.
export const HUES = ['#e69f00', '#56b4e9', '#009e73', '#f0e442', '#3b8fd0', '#d55e00', '#cc79a7',
	'#b87a00', '#8fd0f5', '#3fc79c', '#b8ad1c', '#1f6aa5', '#f08a4b', '#a2527e'];

// Return the index in HUES of a task's colour. A tid has the same colour in every HTML report.
export function taskHue(tid) {
	return (Math.imul(tid, 0x9e3779b1) >>> 8) % HUES.length;
}
