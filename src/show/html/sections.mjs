// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The sections at the top of the page: what the recording is and how reliable it is, and what was
// found in it, in sentences with links to the time line.

import { byId, countOf, element, formatCount, formatShare, placeLink, plainTable, safeName, scrollBox, taskName } from './dom.mjs';
import { formatMoment, formatNs } from './viewport.mjs';

const MOST_LOSSES = 5;
const MOST_PIECES = 12;
const MOST_PAIRS = 6;
const MOST_TASKS = 5;
const MOST_VIOLATIONS = 5;
// This many of the longest waits are visible at once; the user can unfold the others.
const OPEN_WAITS = 5;

// For each kind of a wait's component: what happened, and the name of its colour.
const KINDS_OF_PIECES = {
	unknown: ['unknown', 'unknown'],
	throttled: ['its quota was used up', 'throttled'],
	placing: ['its wakeup was in progress', 'wakeup'],
	held: ['its sched_ext scheduler held it back', 'throttled'],
	offline: ['its CPU was offline', 'unknown'],
	irq: ['interrupts', 'interrupts'],
	softirq: ['soft interrupts', 'interrupts'],
	idle_state: ['its CPU was in an idle state', 'wakeup'],
	idle_exit: ['its CPU came out of idle', 'wakeup'],
	idle: ['its CPU was idle', 'wakeup'],
	stop: ['a task of the stop class ran', 'class'],
	deadline: ['a deadline task ran', 'class'],
	realtime: ['a real-time task ran', 'class'],
	higher: ['a task of a higher priority ran', 'class'],
	server: ['a deadline server let a task of a lower class run', 'class'],
	resched: ['the running task kept going after a reschedule request', 'late'],
	lazy: ['the running task kept going until the tick (lazy preemption)', 'late'],
	dsq: ['another task of a shared dispatch queue ran', 'fair'],
	group: ['a task of another group ran', 'fair'],
	ineligible: ['it had used more than its share', 'fair'],
	protected: ['the running task was within its slice', 'fair'],
	earlier_deadline: ['the running task had an earlier virtual deadline', 'fair'],
	overrun: ['the running task overran its slice', 'late'],
	queued: ['another task of its class ran', 'fair'],
	lower: ['the running task was not preempted yet', 'late'],
	not_explained: ['a task of a lower priority ran: not explained', 'unknown'],
	left_out: ['components that are not in this page', 'unknown'],
};
const VERDICTS = {
	contention: 'other tasks had the CPU',
	idle_cpu: 'an allowed CPU was idle',
	affinity: 'CPUs were idle, but none that it may use',
	throttled: 'its quota was used up',
	held: 'its sched_ext scheduler held it back',
	wakeup: 'waking it took that long',
	idle_exit: 'its CPU was slow to leave idle',
	interrupts: 'its CPU handled interrupts',
	hotplug: 'its CPU was offline',
	unknown: 'what happened is not known',
	not_explained: 'no event explains it',
};
const BEGAN = {
	waking: 'after it was woken',
	preempted: 'after it was preempted',
	throttled: 'after it was throttled',
};
const CAUSES_OF_UNKNOWN = {
	start_ns: "before a CPU's first switch",
	off_ns: 'where triggers had switched events off',
	lost_ns: 'after lost events',
	hidden_ns: 'while tasks hidden from tracing ran',
	broken_ns: 'after missing switches',
	silent_ns: 'of CPUs without a switch',
};

/* ---- the recording ---- */

export function showRecording(head, summary) {
	const { file, host, kernel, command } = head.recording;
	const reported = summary?.recording ?? {};
	const texts = [
		reported.host ?? host,
		reported.kernel ?? kernel,
		wallDate(head.wall_ns) ?? head.recording.date,
		command,
	];
	const name = safeName((file ?? 'recording').replace(/.*\/(?=.)/s, ''));

	byId('title').textContent = name;
	byId('title').title = safeName(file ?? '');
	document.title = `${name}: schedtap`;
	byId('recording').replaceChildren(
		...texts.filter(Boolean).map((text) => element('span', {}, safeName(text)))
	);
	byId('health').replaceChildren(
		element('dl', { class: 'tiles' }, healthTiles(head, summary).map(healthTile)),
		element(
			'ul',
			{ class: 'notes' },
			healthNotes(head, summary).map((note) => element('li', {}, note))
		)
	);
}

function wallDate(wall) {
	const date =
		wall === null || wall === undefined
			? null
			: new Date(Number(BigInt(wall) / 1000000n));

	return date && !Number.isNaN(date.getTime())
		? `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
		: null;
}

function sumOf(rows, key) {
	return rows.reduce((sum, row) => sum + (row[key] ?? 0), 0);
}

// Return the tiles, as [id, title, text, text below or null, CSS class or false, number for
// data-value].
function healthTiles(head, summary) {
	const all = head.window_ns * head.cpus.length;
	const tiles = [
		['window', 'Window', formatNs(head.window_ns, 4), null, false, head.window_ns],
		['cpus', 'CPUs', formatCount(head.cpus.length), null, false, head.cpus.length],
	];

	if (!summary)
		return tiles;
	const [run, unknown] = [sumOf(summary.cpus, 'run_ns'), sumOf(summary.cpus, 'unknown_ns')];
	const { total, is_lower_bound: least } = summary.lost;
	tiles.push(
		['busy', 'Busy', formatShare(run, all), 'of all CPUs', false, run],
		[
			'unknown',
			'Unknown',
			formatShare(unknown, all),
			formatNs(unknown),
			unknown > 0 && 'unknown',
			unknown,
		],
		[
			'lost',
			'Lost',
			`${least ? '≥ ' : ''}${formatCount(total)}`,
			'events',
			(total > 0 || least) && 'bad',
			total,
		],
		[
			'events',
			'Events',
			formatCount(summary.events),
			`${formatCount(Math.round(summary.events / (head.window_ns / 1e9)))} per second`,
			false,
			summary.events,
		]
	);
	if (summary.price)
		tiles.push(priceTile(summary.price));
	return tiles;
}

function priceTile(price) {
	const share = (price.probe_cpu_pct ?? 0) + (price.recorder_cpu_pct ?? 0);
	const each =
		price.ns_per_event === undefined
			? null
			: `${Math.round(price.ns_per_event)} ns per event`;

	return [
		'price',
		'Overhead',
		price.probe_cpu_pct === undefined ? 'not measured' : `${share.toFixed(1)} %`,
		each,
		false,
		share,
	];
}

function healthTile([id, name, value, below, kind, number]) {
	return element(
		'div',
		{ class: kind ? `tile ${kind}` : 'tile', id: `health-${id}`, 'data-value': number },
		element('dt', {}, name),
		element(
			'dd',
			{},
			element('b', {}, value),
			below === null ? null : element('small', {}, below)
		)
	);
}

function healthNotes(head, summary) {
	const notes = Object.entries(head.failed ?? {}).map(
		([name, why]) => `No ${name}: ${safeName(why)}.`
	);

	if (!summary)
		return notes;
	notes.push(lossNote(summary.lost), unknownNote(summary), priceNote(summary.price));
	if (summary.recording.wakeups_recorded === false)
		notes.push(
			'Wakeups were not recorded: sleep includes the wait for a CPU at its end.'
		);
	if (summary.recording.incomplete_because)
		notes.unshift(
			element(
				'span',
				{ class: 'bad' },
				`The recording is incomplete: ${safeName(summary.recording.incomplete_because)}.`
			)
		);
	notes.push(absentNote(summary.not_recorded ?? []));
	return notes.filter(Boolean);
}

function lossNote({ total, is_lower_bound: least, nr_intervals: nr, intervals }) {
	if (!total && !least)
		return 'No event was lost.';
	const links = intervals
		.slice(0, MOST_LOSSES)
		.flatMap(({ from_ns: from, to_ns: to, cpu }) => [
			' ',
			placeLink(
				{ from, to, cpu: cpu ?? undefined },
				() => {},
				{},
				`${formatMoment(from)}${cpu === null ? '' : ` on CPU ${cpu}`}`
			),
		]);

	return element(
		'span',
		{ class: 'bad' },
		`${least ? 'At least ' : ''}${countOf(total, 'event')} ${total === 1 ? 'was' : 'were'} lost, in ${countOf(nr, 'interval')}: what happened there is unknown.`,
		links
	);
}

function unknownNote({ unknown }) {
	const causes = Object.entries(CAUSES_OF_UNKNOWN)
		.filter(([key]) => unknown[key] > 0)
		.map(([key, why]) => `${formatNs(unknown[key])} ${why}`);

	return causes.length
		? `Unknown time of CPUs: ${causes.join(', ')}.`
		: 'No CPU time is unknown.';
}

function priceNote(price) {
	if (price?.probe_cpu_pct === undefined)
		return 'The overhead of recording is unknown.';
	return (
		`Recording cost ${price.probe_cpu_pct.toFixed(2)} % of all CPUs in the probes` +
		(price.recorder_cpu_pct === undefined
			? '.'
			: `, and ${price.recorder_cpu_pct.toFixed(2)} % in the recorder.`)
	);
}

function absentNote(absent) {
	return absent.length
		? element(
				'details',
				{},
				element(
					'summary',
					{},
					`${countOf(absent.length, 'kind')} of events could not be recorded`
				),
				element(
					'p',
					{},
					absent
						.map(
							(row) =>
								`${safeName(row.name)} (${safeName(row.reason ?? row.status)})`
						)
						.join(', ')
				)
			)
		: null;
}

// Show which slices the page has. `state` says whether they have been loaded: see
// Page.setSliceState().
export function showSliceState({ slices, served }, state) {
	const { held, of } = slices ?? {};

	byId('holds').textContent = served
		? 'slices are loaded as you zoom in'
		: state === 'reading'
			? 'slices are being loaded; until then the task that ran most is drawn'
			: state === 'missing'
				? 'slices could not be loaded: the task that ran most is drawn'
				: held === of
					? `all ${countOf(of, 'slice')} are in this report`
					: `${formatCount(held)} of ${countOf(of, 'slice')} are in this report, those near its findings; elsewhere the task that ran most is drawn. schedtap view shows all`;
}

/* ---- the findings ---- */

export function showFound(head, reports, go) {
	byId('found').replaceChildren(
		element('div', { class: 'found-main' }, foundWaits(reports.explain, go)),
		element(
			'div',
			{ class: 'found-more' },
			foundKinds(reports.explain),
			foundViolations(reports.balance, go),
			foundThrottling(reports, go),
			foundDelays(reports, go)
		)
	);
}

function foundCard(id, title, ...children) {
	return element(
		'section',
		{ class: 'card', 'aria-labelledby': `found-${id}` },
		element('h3', { id: `found-${id}` }, title),
		...children
	);
}

function notThere(id, title, report) {
	return foundCard(id, title, element('p', { class: 'hint' }, `This page has no ${report}.`));
}

function foundWaits(explain, go) {
	if (!explain)
		return notThere('waits', 'Longest waits for a CPU', 'explanations');
	const { waits, delay_ns: delay } = explain.all;
	if (!explain.waits.length)
		return foundCard(
			'waits',
			'Longest waits for a CPU',
			element('p', {}, 'No task waited for a CPU.')
		);
	const items = explain.waits.map((wait) => waitItem(wait, go));
	const rest = items.slice(OPEN_WAITS);

	return foundCard(
		'waits',
		'Longest waits for a CPU',
		element(
			'p',
			{},
			element('b', { 'data-value': waits }, countOf(waits, 'wait')),
			' took ',
			element('b', { 'data-value': delay }, formatNs(delay, 4)),
			' in all. The longest:'
		),
		element(
			'ol',
			{ class: 'waits', id: 'found-waits-list' },
			items.slice(0, OPEN_WAITS)
		),
		rest.length
			? element(
					'details',
					{},
					element('summary', {}, `the next ${rest.length}`),
					element(
						'ol',
						{ class: 'waits', start: OPEN_WAITS + 1 },
						rest
					)
				)
			: null
	);
}

function waitItem(wait, go) {
	const { from_ns: from, to_ns: to, cpu, tid } = wait;
	const title = placeLink(
		{ from, to, cpu, tid },
		go,
		{ 'data-value': wait.wait_ns },
		`${taskName(wait)} waited ${wait.whole ? '' : 'at most '}${formatNs(wait.wait_ns, 4)}`
	);

	return element(
		'li',
		{},
		element(
			'p',
			{},
			title,
			` for CPU ${cpu} ${BEGAN[wait.state] ?? ''}: ${VERDICTS[wait.verdict] ?? safeName(wait.verdict)}.`
		),
		shareBar(kindsOfWait(wait)),
		element('p', { class: 'why' }, waitReasons(wait)), waitPieces(wait, go));
}

// Merge components that have the same key, and sort them by length, the longest first.
function joinPieces(pieces, keyOf) {
	const joined = new Map();

	for (const piece of pieces) {
		const key = keyOf(piece);
		const before = joined.get(key);
		joined.set(key, before ? { ...before, ns: before.ns + piece.ns } : piece);
	}
	return [...joined.values()].sort((a, b) => b.ns - a.ns);
}

// Return the components of a wait, merged by kind. If the page has only some of them, the rest of
// the wait gets a kind of its own.
function kindsOfWait(wait) {
	const kinds = joinPieces(wait.pieces, (piece) => piece.kind);
	const rest = wait.wait_ns - sumOf(wait.pieces, 'ns');

	return rest > 0
		? [...kinds, { kind: 'left_out', ns: rest }].sort((a, b) => b.ns - a.ns)
		: kinds;
}

function waitReasons(wait) {
	const kinds = kindsOfWait(wait);
	const tasks = joinPieces(
		wait.pieces.filter((piece) => piece.tid !== undefined && piece.tid !== null),
		(piece) => piece.tid
	);
	const sentences = [
		kinds
			.slice(0, 3)
			.map(
				({ kind, ns }) =>
					`${formatShare(ns, wait.wait_ns)}: ${pieceText(kind)}`
			)
			.join('; '),
	];

	if (tasks.length)
		sentences.push(
			`${taskName(tasks[0])} ran for ${formatNs(tasks[0].ns)} of it${tasks.length > 1 ? `, ${countOf(tasks.length - 1, 'other task')} for ${formatNs(sumOf(tasks.slice(1), 'ns'))}` : ''}`
		);
	if (wait.avoidable_ns > 0)
		sentences.push(
			`CPU ${wait.idle_cpus.join(', ')} could have run it, idle for ${formatNs(wait.avoidable_ns)}`
		);
	if (wait.barred_ns > 0)
		sentences.push(
			`CPU ${wait.barred_cpus.join(', ')} was idle for ${formatNs(wait.barred_ns)}, but the task may not run there`
		);
	return `${sentences.join('. ')}.`;
}

function pieceText(kind) {
	return KINDS_OF_PIECES[kind]?.[0] ?? safeName(kind).replaceAll('_', ' ');
}

function pieceColour(kind) {
	return `piece piece-${KINDS_OF_PIECES[kind]?.[1] ?? 'unknown'}`;
}

// Create a bar with an interval for each component. Screen readers skip it, since the text next to
// it has the same information.
function shareBar(pieces) {
	return element(
		'div',
		{ class: 'bar', 'aria-hidden': 'true' },
		pieces.map(({ kind, ns, delay_ns: delay }) => {
			const piece = element('span', {
				class: pieceColour(kind),
				title: pieceText(kind),
			});
			piece.style.flexGrow = ns ?? delay;
			return piece;
		})
	);
}

// Return the place of a component on the time line. A component that sums up several intervals has
// the beginning of the first one.
function placeOfPiece(piece, wait) {
	return {
		from: piece.from_ns,
		to: Math.min(wait.to_ns, piece.from_ns + piece.ns),
		cpu: wait.cpu,
	};
}

function waitPieces(wait, go) {
	const rows = [...wait.pieces].sort((a, b) => b.ns - a.ns);
	const cells = rows
		.slice(0, MOST_PIECES)
		.map((piece) => [
			[
				element('span', {
					class: pieceColour(piece.kind),
					'aria-hidden': 'true',
				}),
				pieceText(piece.kind),
			],
			piece.tid === undefined || piece.tid === null ? '' : taskName(piece),
			piece.cgroup ? safeName(piece.cgroup) : '',
			placeLink(
				placeOfPiece(piece, wait),
				go,
				{},
				`+${formatNs(piece.from_ns - wait.from_ns)}`
			),
			(piece.ns / 1e6).toFixed(3),
			formatShare(piece.ns, wait.wait_ns),
		]);

	return element(
		'details',
		{},
		element(
			'summary',
			{},
			`${countOf(rows.length, 'component')} of this wait${rows.length > MOST_PIECES ? `: the longest ${MOST_PIECES}` : ''}`
		),
		scrollBox(
			`Components of the wait of ${taskName(wait)}`,
			plainTable(
				['what happened', 'who ran', 'cgroup', 'first at', 'ms', 'share'],
				cells,
				3
			)
		)
	);
}

function foundKinds(explain) {
	if (!explain?.kinds?.length)
		return null;
	const kinds = [...explain.kinds].sort((a, b) => b.delay_ns - a.delay_ns);

	return foundCard(
		'kinds',
		'Causes of all waits',
		shareBar(kinds),
		element(
			'ul',
			{ class: 'shares' },
			kinds
				.filter((kind) => kind.delay_pct >= 0.05)
				.map(({ kind, delay_ns: delay, delay_pct: percent }) =>
					element(
						'li',
						{},
						element('span', {
							class: pieceColour(kind),
							'aria-hidden': 'true',
						}),
						element('span', {}, pieceText(kind)),
						element(
							'span',
							{ class: 'number' },
							formatNs(delay)
						),
						element(
							'span',
							{ class: 'number' },
							`${percent.toFixed(1)} %`
						)
					)
				)
		)
	);
}

function foundViolations(balance, go) {
	const title = 'Waits while a CPU was free';

	if (!balance)
		return notThere('balance', title, 'report of the balance');
	const { count, total_ns: total, max_ns: max, worst } = balance.violations;
	if (!count)
		return foundCard(
			'balance',
			title,
			element(
				'p',
				{},
				'Never: no task was seen to wait while another CPU was free.'
			)
		);
	return foundCard(
		'balance',
		title,
		element(
			'p',
			{},
			element('b', { 'data-value': count }, countOf(count, 'time')),
			` tasks waited while another CPU was free, for ${formatNs(total)} in all, ${formatNs(max)} at most.`
		),
		element(
			'ul',
			{},
			worst
				.slice(0, MOST_VIOLATIONS)
				.map((row) =>
					element(
						'li',
						{},
						placeLink(
							{
								from: row.from_ns,
								to: row.to_ns,
								cpu: row.cpu,
								tid: row.tid,
							},
							go,
							{},
							`${taskName(row)} for ${formatNs(row.length_ns)}`
						),
						` on CPU ${row.cpu}, while CPU ${row.idle_cpus.join(', ')} was free`
					)
				)
		)
	);
}

function foundThrottling({ summary, explain }, go) {
	const title = 'Throttling';

	if (!summary)
		return notThere('throttling', title, 'summary');
	const tasks = summary.tasks
		.filter((task) => task.throttled_ns > 0)
		.sort((a, b) => b.throttled_ns - a.throttled_ns);
	const quotas = (summary.quotas ?? []).filter((quota) => quota.throttled_ns > 0);
	const waits = (explain?.waits ?? []).filter((wait) =>
		wait.pieces.some((piece) => piece.kind === 'throttled')
	);

	return foundCard(
		'throttling',
		title,
		throttlingText(summary, tasks),
		element(
			'ul',
			{},
			tasks
				.slice(0, MOST_TASKS)
				.map((task) =>
					element(
						'li',
						{},
						`${taskName(task)} for ${formatNs(task.throttled_ns)}${task.cgroup ? ` in ${safeName(task.cgroup)}` : ''}`
					)
				),
			quotas
				.slice(0, MOST_TASKS)
				.map((quota) =>
					element(
						'li',
						{},
						`${safeName(quota.cgroup ?? 'a cgroup')}: ${formatNs(quota.throttled_ns)} by the kernel's account of the whole recording`
					)
				),
			waits
				.slice(0, MOST_TASKS)
				.map((wait) =>
					element(
						'li',
						{},
						placeLink(
							{
								from: wait.from_ns,
								to: wait.to_ns,
								cpu: wait.cpu,
								tid: wait.tid,
							},
							go,
							{},
							`${taskName(wait)} waited ${formatNs(wait.wait_ns)}, throttled`
						)
					)
				)
		)
	);
}

function throttlingText({ tasks }, throttled) {
	if (throttled.length)
		return element(
			'p',
			{},
			`${countOf(throttled.length, 'task')} used up a quota, for ${formatNs(sumOf(throttled, 'throttled_ns'))} together:`
		);
	if (tasks.some((task) => task.throttled_ns !== null))
		return element('p', {}, 'Never: no task used up a quota.');
	return element(
		'p',
		{},
		tasks.some((task) => task.throttling_possible)
			? 'Not recorded, although tasks had a quota: record with -e throttle.'
			: 'Not recorded.'
	);
}

// Create the card of the cgroups and tasks that ran while others waited.
function foundDelays({ explain, cgroups, summary }, go) {
	const title = 'Who delayed whom';
	const pairs = [...(cgroups?.cgroups ?? [])].sort((a, b) => b.delay_ns - a.delay_ns);
	const tasks = [...(explain?.tasks ?? [])].sort((a, b) => b.delay_ns - a.delay_ns);
	const home = new Map((summary?.tasks ?? []).map((task) => [task.tid, task.cgroup]));
	const find = (test) => findPiece(explain?.waits ?? [], test);

	if (!pairs.length && !tasks.length)
		return foundCard(
			'delays',
			title,
			element('p', {}, 'None: no task ran while another one waited.')
		);
	return foundCard(
		'delays',
		title,
		element(
			'ul',
			{},
			pairs.slice(0, MOST_PAIRS).map((pair) =>
				element(
					'li',
					{},
					delayLink(
						find(
							(piece, wait) =>
								piece.tid &&
								piece.cgroup === pair.aggressor &&
								(home.get(wait.tid) ?? null) ===
									pair.victim
						),
						go,
						`${cgroupName(pair.aggressor)} delayed ${cgroupName(pair.victim, true)}`
					),
					` for ${formatNs(pair.delay_ns)}, ${pair.delay_pct.toFixed(1)} % of all delay, ${formatNs(pair.max_ns)} at most`
				)
			)
		),
		tasks.length ? element('p', {}, 'Tasks that ran while others waited:') : null,
		element(
			'ul',
			{},
			tasks.slice(0, MOST_TASKS).map((task) =>
				element(
					'li',
					{},
					delayLink(
						find((piece) => piece.tid === task.tid),
						go,
						taskName(task)
					),
					` for ${formatNs(task.delay_ns)}, ${task.delay_pct.toFixed(1)} %`
				)
			)
		)
	);
}

function cgroupName(path, isVictim) {
	if (path === null)
		return isVictim ? 'tasks of no known cgroup' : 'Tasks of no known cgroup';
	return path === '/' ? (isVictim ? 'the root cgroup' : 'The root cgroup') : safeName(path);
}

// Return the longest component for which test() is true, as { piece, wait }; null if there is none.
function findPiece(waits, test) {
	let best = null;

	for (const wait of waits)
		for (const piece of wait.pieces)
			if (test(piece, wait) && !(best?.piece.ns >= piece.ns))
				best = { piece, wait };
	return best;
}

function delayLink(found, go, text) {
	if (!found)
		return element('b', {}, text);
	const { piece, wait } = found;
	return placeLink(placeOfPiece(piece, wait), go, {}, text);
}
