// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// node data.mjs SCHEDTAP FOLDER RECORDING...: exports each as a page, in FOLDER, and checks what is drawn against our own reports, in TAP.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { levelsOf, readPage, slicesOf } from "./page.mjs";

const [schedtap, folder, ...recordings] = process.argv.slice(2);
const counts = { pages: 0, refused: 0, slices: 0, buckets: 0, waits: 0, curves: 0 };
const FIRST_TASK = 3;

function run(...args) {
	const ran = spawnSync(schedtap, args, { encoding: "utf8", maxBuffer: 1 << 30 });

	return { ok: ran.status === 0, out: ran.stdout, err: ran.stderr };
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
const add = (map, key, n) => map.set(key, (map.get(key) ?? 0) + n);

// Tables of numbers that should be the same; what is missing is 0.
function differ(what, ours, theirs) {
	return [...new Set([...ours.keys(), ...theirs.keys()])].filter((k) => (ours.get(k) ?? 0) !== (theirs.get(k) ?? 0))
		.map((k) => `${what} of ${k}: ${ours.get(k) ?? 0}, not ${theirs.get(k) ?? 0}`);
}

function checkCpus(slices, cpus) {
	const ours = new Map(), theirs = new Map();

	for (const s of slices)
		add(ours, `CPU ${s.cpu} ${["", "unknown", "offline"][s.runner] ?? "run"}`, s.to - s.from);
	for (const c of cpus) {
		for (const what of ["run", "unknown", "offline"])
			add(theirs, `CPU ${c.cpu} ${what}`, c[`${what}_ns`]);
		add(theirs, `CPU ${c.cpu} unknown`, c.not_recorded_ns ?? 0);
	}
	return differ("ns", ours, theirs);
}

// Of a wait that throttling or something unknown cut in two, a slice has the second part.
function isWait(s, row) {
	const ns = row[`${["", "waking", "preempted", "throttled"][s.came]}_ns`] ?? 0;

	return (row.throttled_ns && s.came !== 3) || row.unknown_ns ? s.wait <= ns : s.wait === ns;
}

// Each slice of timehist is one of ours: its task, beginning, CPU, length, and the wait before it.
function checkSlices(slices, part, file, origin) {
	const rows = run("timehist", "--json", "-i", file).out.split("\n").filter((l) => l.startsWith('{"what":"slice"'))
		.map((l) => JSON.parse(l.replace(/"time_ns":(\d+)/, '"time_ns":"$1"')));
	const ours = new Map(slices.filter((s) => s.runner >= FIRST_TASK).map((s) => [`${s.cpu} ${s.from}`, s]));
	const problems = [];

	for (const r of rows) {
		const begin = Number(BigInt(r.time_ns) - origin), key = `${r.cpu} ${begin}`, s = ours.get(key);
		const task = s && part.tasks[s.runner - FIRST_TASK];

		if (!s || task[0] !== r.tid || s.to - s.from !== r.run_ns)
			problems.push(`slice of ${r.tid} at ${begin} on ${r.cpu}: ${s ? `${task} ${s.to - s.from}` : "none"}, not ${r.run_ns}`);
		else if (s.came && !isWait(s, r))
			problems.push(`wait before ${key}: ${s.wait}, not ${JSON.stringify(r)}`);
		counts.waits += s?.came ? 1 : 0;
	}
	return problems;
}

function checkOrder(slices, part, cpus) {
	const problems = [];

	for (const [i, s] of slices.entries()) {
		if (s.to > part.to_ns || s.to <= s.from)
			problems.push(`slice ${i} is from ${s.from} to ${s.to}`);
		if (s.runner === 0 || s.runner >= FIRST_TASK + part.tasks.length || s.waker >= 2 + part.tasks.length || s.last > cpus.length)
			problems.push(`slice ${i} has runner ${s.runner}, waker ${s.waker}, lane ${s.last}`);
	}
	return problems;
}

// By bucket: who had how much of it.
function shares(slices, level, rows, from) {
	const out = Array.from({ length: rows * level.buckets }, () => new Map());

	for (const s of slices)
		for (let at = s.from; at < s.to; ) {
			const bucket = Math.floor((at - from) / level.ns), end = Math.min(s.to, from + (bucket + 1) * level.ns);

			add(out[s.lane * level.buckets + bucket], s.runner, end - at);
			at = end;
		}
	return out;
}

const isShare = (byte, ns, of) => Math.abs(byte - 255 * ns / of) <= 1 && (ns > 0) === (byte > 0) && (byte < 255 || ns >= of);

function checkLevel(level, of, waits) {
	const problems = [], { runner, busy, unknown, wait } = level.cells;

	for (const [i, of_bucket] of of.entries()) {
		const run = sum([...of_bucket].map(([who, ns]) => who >= FIRST_TASK ? ns : 0)), lost = sum([...of_bucket.values()]) - run;

		if ((of_bucket.get(runner[i]) ?? 0) !== Math.max(0, ...of_bucket.values()))
			problems.push(`bucket ${i} of ${level.ns} ns is of ${runner[i]}`);
		if (!isShare(busy[i], run, level.ns) || !isShare(unknown[i], lost, level.ns))
			problems.push(`bucket ${i} of ${level.ns} ns: busy ${busy[i]}, unknown ${unknown[i]}, not ${run}, ${lost}`);
		/* a wait may exceed those of slices: its task ran only in unknown time, or from the window's end on */
		if (wait[i] < (waits.get(i) ?? 0) || (wait[i] > (waits.get(i) ?? 0) && !lost && (i + 1) % level.buckets !== 0))
			problems.push(`bucket ${i} of ${level.ns} ns: wait ${wait[i]}, not ${waits.get(i) ?? 0}`);
		counts.buckets++;
	}
	return problems;
}

// A wait that ended at a border between buckets is of the later one, but for the last of all.
function longest(slices, level, part) {
	const out = new Map();

	for (const s of slices.filter((s) => s.came === 1 || s.came === 2)) {
		const bucket = s.lane * level.buckets + Math.min(level.buckets - 1, Math.floor((s.from - part.from_ns) / level.ns));

		out.set(bucket, Math.max(out.get(bucket) ?? 0, Math.ceil(s.wait / 1000)));
	}
	return out;
}

// The most of a fourth is the most of theirs.
function checkDepth(levels, rows) {
	const problems = [];

	for (let l = 1; l < levels.length; l++)
		for (let i = 0; i < rows * levels[l].buckets; i++) {
			const row = Math.floor(i / levels[l].buckets), first = row * levels[l - 1].buckets + 4 * (i % levels[l].buckets);
			const finer = levels[l - 1].cells.depth.slice(first, Math.min(first + 4, (row + 1) * levels[l - 1].buckets));

			if (levels[l].cells.depth[i] !== Math.max(...finer))
				problems.push(`depth of bucket ${i} of level ${l}: ${levels[l].cells.depth[i]}, not the most of ${[...finer]}`);
		}
	return problems;
}

function checkLevels(slices, part, cpus) {
	const levels = levelsOf(part, cpus.length);

	return [...levels.flatMap((level) => checkLevel(level, shares(slices, level, cpus.length, part.from_ns), longest(slices, level, part))),
		...checkDepth(levels, cpus.length), ...levels.at(-1).buckets > 64 ? [`the last level has ${levels.at(-1).buckets} buckets`] : []];
}

// Those of CPUs are as `pelt` has them; where points are too many the least and the most are still there.
function checkCurve(c, points, reported) {
	const ours = points.filter((p) => !Number.isNaN(p[1])).map((p) => p[1]);
	const theirs = reported.filter((p) => p[1] !== null).map((p) => Math.fround(p[1]));

	counts.curves++;
	if (reported.length > 4000 ? Math.min(...ours) === Math.min(...theirs) && Math.max(...ours) === Math.max(...theirs) : `${ours}` === `${theirs}`)
		return [];
	return [`${c.signal} of CPU ${c.cpu}: ${ours.slice(0, 10)} (${ours.length}), not ${theirs.slice(0, 10)} (${theirs.length})`];
}

function checkCurves(part, file) {
	const { "curves.t": t = [], "curves.v": v = [] } = part.columns;
	const series = part.curves.length ? JSON.parse(run("pelt", "-s", "*", "--json", "--points", "-i", file).out || "{}").series ?? [] : [];
	const of = new Map(series.filter((s) => s.cpu !== undefined && !("tid" in s) && !("cgroup" in s)).map((s) => [`${s.signal} ${s.cpu}`, s.points]));
	const problems = [];
	let i = 0;

	for (const c of part.curves) {
		const points = [];
		let at = part.from_ns;

		for (let k = 0; k < c.points; k++, i++)
			points.push([at += t[i], v[i]]);
		if (at > part.to_ns || c.points > 4000)
			problems.push(`${c.signal} has ${c.points} points up to ${at}`);
		if (c.task === undefined && c.cgroup === undefined && of.has(`${c.signal} ${c.cpu}`))
			problems.push(...checkCurve(c, points, of.get(`${c.signal} ${c.cpu}`)));
	}
	return i === t.length && i === v.length ? problems : [...problems, `${t.length} and ${v.length} points, not ${i}`];
}

function checkHead({ head }, summary, text) {
	const start = text.match(/"start_ns":(\d+)/)[1];
	const problems = [];

	if (head.origin_ns !== start || head.window_ns !== summary.recording.window_ns)
		problems.push(`from ${head.origin_ns} for ${head.window_ns}, not ${start} for ${summary.recording.window_ns}`);
	for (const [key, want] of [["host", "host"], ["kernel", "kernel"], ["file", "file"]])
		if (head.recording[key] !== summary.recording[want])
			problems.push(`${key}: ${head.recording[key]}, not ${summary.recording[want]}`);
	return problems;
}

function checkPage(page, file) {
	const printed = run("summary", "--json", "-i", file), summary = JSON.parse(printed.out), part = page.parts[0];
	const slices = slicesOf(part, page.head.cpus);

	counts.pages++;
	counts.slices += slices.length;
	return [...checkHead(page, summary, printed.out), ...checkOrder(slices, part, page.head.cpus), ...checkCpus(slices, summary.cpus),
		...checkSlices(slices, part, file, BigInt(page.head.origin_ns)), ...checkLevels(slices, part, page.head.cpus), ...checkCurves(part, file)];
}

function check(file) {
	const out = `${folder}/page.html`, exported = run("export", "--to", "html", "-i", file, "-o", out);

	if (!exported.ok) {
		counts.refused++;
		return /has no sched_switch events|which counts ticks/.test(exported.err) && !fs.existsSync(out) ? [] : [exported.err.trim()];
	}
	try {
		return checkPage(readPage(out), file);
	} catch (e) {
		return [e.stack];
	} finally {
		fs.unlinkSync(out);
	}
}

let n = 0;
function report(name, problems) {
	console.log(`${problems.length ? "not ok" : "ok"} ${++n} - ${name}`);
	for (const p of problems.slice(0, 10))
		console.log(`#   ${p}`);
	process.exitCode ||= problems.length ? 1 : 0;
}

for (const file of recordings)
	report(file.replace(/.*\//, ""), check(file));
report(`so compared: ${Object.entries(counts).map(([k, v]) => `${v} ${k}`).join(", ")}`, Object.values(counts).every((v) => v) ? [] : ["nothing of some kind"]);
console.log(`1..${n}`);
