// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// make_page.mjs SLICES CPUS [COMM]: a page of a simulated load, to look at and to measure. Tasks belong to CPUs, wait for them, sleep,
// block, wake each other; some time is unknown, a CPU goes offline.
import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodePart } from './make_part.mjs';

const top = join(dirname(fileURLToPath(import.meta.url)), '../..');
const ORIGIN = 10041811361963;

let seed = 1;
function random() {
	seed = Math.imul(seed ^ seed >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
	return ((seed ^ seed >>> 13) >>> 0) / 2 ** 32;
}

function simulate(slices, cpus, comm) {
	const names = ['kworker/u8:1', 'postgres', 'nginx', 'cc1plus', 'ksoftirqd', 'redis-server', 'java', 'rcu_preempt', 'ffmpeg', 'sshd'];
	const tasks = Array.from({ length: cpus * 6 }, (_, k) => [1000 + k * 7, 1000 + (k - k % 3) * 7, comm ?? `${names[k % names.length]}`.slice(0, 15)]);
	const state = tasks.map((_, k) => ({ wake: random() * 1e6, home: k % cpus, before: 1, waker: 0, last: -1 }));
	const clocks = new Float64Array(cpus);
	const lanes = Array.from({ length: cpus }, () => []);

	for (let n = 0; n < slices; n++) {
		const cpu = clocks.indexOf(Math.min(...clocks));
		const k = pick(state, cpu);
		const task = state[k];
		const start = Math.round(Math.max(clocks[cpu], task.wake));
		const run = Math.round(2000 + 60000 * random() ** 6 * (1 + k % 5 * 4));
		const preempted = random() < 0.25;
		const blocked = !preempted && random() < 0.1;

		lanes[cpu].push({ start, end: start + run, runner: k + 3, before: task.before, after: preempted ? 1 : blocked ? 3 : 2,
			wait: start - Math.round(task.wake), waker: task.before === 1 ? task.waker : 0, from: task.last + 1 });
		clocks[cpu] = start + run + (random() < 0.3 ? Math.round(random() * 30000) : 0);
		task.before = preempted ? 2 : 1;
		task.last = cpu;
		task.wake = preempted ? start + run : start + run + 5000 + Math.round(random() ** 3 * 2e6 * (1 + Math.sin(n / slices * 20)));
		wakeAnother(state, task, k, start, run);
		if (random() < 0.02)
			task.home = Math.floor(random() * cpus);
	}
	addUnknown(lanes, Math.max(...clocks));
	return { from_ns: 0, to_ns: Math.ceil(Math.max(...clocks)) + 1000, tasks, lanes };
}

function pick(state, cpu) {
	let best = -1;

	state.forEach((task, k) => {
		if (task.home === cpu && (best < 0 || task.wake < state[best].wake))
			best = k;
	});
	if (best < 0)
		state[best = cpu].home = cpu;
	return best;
}

// What sleeps beyond the slice is woken in it, now and then.
function wakeAnother(state, task, k, start, run) {
	const other = state[(k + 1) % state.length];

	if (other.wake <= start + run || other.before !== 1)
		return;
	other.wake = start + Math.floor(run * random());
	other.waker = random() < 0.2 ? 1 : k + 2;
}

function addUnknown(lanes, end) {
	const cut = (lane, from, to, runner) => {
		const kept = lane.filter((s) => s.end <= from || s.start >= to);
		const at = kept.findIndex((s) => s.start >= to);
		kept.splice(at < 0 ? kept.length : at, 0, { start: Math.round(from), end: Math.round(to), runner });
		return kept;
	};
	lanes[0] = cut(lanes[0], end * 0.3, end * 0.34, 1);
	if (lanes.length > 2)
		lanes[2] = cut(lanes[2], end * 0.6, end * 0.75, 2);
}

// The ten longest waits, in the format of `explain --json`.
function worstWaits({ lanes, tasks }) {
	const waits = lanes.flatMap((lane, cpu) => lane.filter((s) => s.wait > 1e6).map((s) => ({ s, cpu }))).sort((a, b) => b.s.wait - a.s.wait);
	const sum = waits.reduce((total, { s }) => total + s.wait, 0);

	return { all: { waits: waits.length, delay_ns: sum, delay_pct: 100, max_ns: waits[0]?.s.wait ?? 0 }, kinds: [], tasks: [], cgroups: [],
		waits: waits.slice(0, 10).map(({ s, cpu }) => ({ tid: tasks[s.runner - 3][0], tgid: null, comm: tasks[s.runner - 3][2], cpu, state: 'waking',
			from_ns: ORIGIN + s.start - s.wait, to_ns: ORIGIN + s.start, wait_ns: s.wait, verdict: 'contention', avoidable_ns: 0, barred_ns: 0,
			idle_cpus: [], barred_cpus: [], whole: true, pieces: [{ kind: 'queued', ns: s.wait, from_ns: ORIGIN + s.start - s.wait, tid: 1, tgid: null, comm: 'someone' }] })) };
}

// The page as make puts it together, with `head`, reports and a part in it, of which all stands before the script.
function fillPage(head, reports, part) {
	const text = (path) => readFileSync(join(top, path), 'utf8');
	const pack = (bytes) => deflateRawSync(bytes).toString('base64');
	const modules = text('src/show/html/modules').trim().split('\n').map((name) => text(`src/show/html/${name}`)
		.replace(/^import .*\n/gm, '').replace(/^export /gm, ''));
	const parts = {
		STYLE: text('third_party/uplot/uPlot.min.css') + text('src/show/html/page.css'),
		SCRIPT: [text('third_party/uplot/uPlot.iife.min.js'), ...modules].join('\n'),
		CSP: "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'",
		HEAD: JSON.stringify(head).replaceAll('<', '\\u003c'),
		REPORTS: [...Object.entries(reports).map(([name, report]) =>
			`<script type="text/plain" class="report" id="report-${name}">${pack(Buffer.from(JSON.stringify(report)))}</script>`),
			`<script type="text/plain" class="part" id="part-0-0">${pack(part)}</script>`].join('\n'),
		PARTS: '',
	};

	return text('src/show/html/page.html').replace(/@([A-Z]+)@/g, (all, name) => parts[name]);
}

const [slices, cpus] = process.argv.slice(2).map(Number);
const load = simulate(slices, cpus, process.argv[4]);
const head = { version: 1, program: 'schedtap', served: false, recording: { file: 'made.dat', host: 'box', kernel: '6.1', date: null, command: null },
	origin_ns: String(ORIGIN), wall_ns: '1763792140000000000', window_ns: load.to_ns, cpus: load.lanes.map((_, cpu) => cpu),
	slices: { held: slices, of: slices }, reports: ['explain'], failed: {}, parts: [{ from_ns: 0, to_ns: load.to_ns, slices: true, pieces: [1, 0] }] };
process.stdout.write(fillPage(head, { explain: worstWaits(load) }, encodePart({ ...load, buckets: Math.min(16384, Math.floor(262144 / cpus)) })));
