// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Describes the selection in the panel next to the time line. For a slice: the task, why it waited,
// what woke it, and what followed. For a range: statistics. Names become text nodes, never markup.

import { CAME, HUES, IDLE, OFFLINE, UNKNOWN, WENT, rangeStatistics, taskHue } from './model.mjs';
import { element, plainTable, safeName, scrollBox, taskName } from './dom.mjs';
import { formatMoment, formatNs, formatWall } from './viewport.mjs';

const MOST_ROWS = 12;

function detailButton(text, act) {
	return element('button', { type: 'button', onclick: act }, text);
}

export function taskText(task) {
	return task ? taskName({ comm: task[2], tid: task[0] }) : 'not known';
}

function runnerText(model, runner) {
	if (runner === IDLE)
		return 'idle';
	return runner === UNKNOWN
		? 'unknown'
		: runner === OFFLINE
			? 'offline'
			: taskText(model.task(runner));
}

// Describe a slice in one sentence.
export function sliceText(model, slice, cpu) {
	const { start, end, runner } = model.slices;
	const came = CAME[model.how[slice] & 3];
	const waited =
		model.wait[slice] > 0
			? `, waited ${formatNs(model.wait[slice])}${came ? `, ${came}` : ''}`
			: '';
	const what = model.task(runner[slice]) ? 'ran' : 'lasted';

	return `${runnerText(model, runner[slice])} on CPU ${cpu} at ${formatMoment(start[slice])}, ${what} ${formatNs(end[slice] - start[slice])}${waited}`;
}

// Fill the panel for a slice. `woken` are the slices that it woke, `explain` is the report of that
// name or null, and `act` has the functions of the buttons: select(model, slice), step(n), fit().
export function showSliceDetails(panel, { model, slice, woken, head, explain, act }) {
	const { start, end, runner } = model.slices;
	const task = model.task(runner[slice]);
	const cpu = (i) => head.cpus[model.laneOf(i)];
	const found =
		task &&
		explain?.waits?.find(
			(w) => w.tid === task[0] && Math.abs(w.to_ns - start[slice]) < 1
		);
	const rows = [
		['CPU', String(cpu(slice))],
		[
			'From',
			[
				formatMoment(start[slice]),
				head.wall_ns && ` (${formatWall(head.wall_ns, start[slice], 6)})`,
			],
		],
		[task ? 'Ran' : 'Lasted', formatNs(end[slice] - start[slice], 4)],
	];

	if (task)
		rows.push(
			...taskRows(model, slice, cpu, act, found),
			...meanwhileRows(model, slice, found)
		);
	rows.push(...followedRows(model, slice, task, act));
	if (woken.length)
		rows.push([
			'Woke',
			woken.slice(0, MOST_ROWS).map((i) =>
				element(
					'div',
					{},
					detailButton(runnerText(model, runner[i]), () =>
						act.select(model, i)
					),
					` on CPU ${cpu(i)}`
				)
			),
		]);
	panel.replaceChildren(
		sliceTitle(model, runner[slice], task),
		sliceButtons(task, act),
		detailList(rows)
	);
}

function sliceTitle(model, runner, task) {
	const swatch = element('span', { class: 'swatch' });

	if (task)
		swatch.style.backgroundColor = HUES[taskHue(task[0])];
	return element(
		'h3',
		{},
		swatch,
		element('span', {}, task ? safeName(task[2]) : runnerText(model, runner)),
		task &&
			element(
				'small',
				{},
				`thread ${task[0]}${task[1] ? `, process ${task[1]}` : ''}`
			)
	);
}

function sliceButtons(task, act) {
	return element(
		'p',
		{ class: 'buttons' },
		task && detailButton('‹ previous', () => act.step(-1)),
		task && detailButton('next ›', () => act.step(1)),
		detailButton('fit', () => act.fit())
	);
}

function detailList(rows) {
	return element(
		'dl',
		{},
		rows.map(([name, value]) => [element('dt', {}, name), element('dd', {}, value)])
	);
}

// Return the rows that say why the task began to run then: its wait, its waker, and the CPU it came
// from.
function taskRows(model, slice, cpu, act, found) {
	const came = model.how[slice] & 3;
	const origin = model.origin[slice];
	const rows = [
		[
			'Waited',
			came
				? waitText(model.wait[slice], CAME[came])
				: found
					? waitText(found.wait_ns, found.state)
					: 'not known',
		],
	];
	const waker = model.wakerOf(slice);

	if (came === 1)
		rows.push(['Woken by', wakerParts(model, waker, cpu, act)]);
	if (origin)
		rows.push([
			'Came from',
			origin - 1 === model.laneOf(slice)
				? 'the same CPU'
				: `CPU ${model.cpus[origin - 1]}`,
		]);
	return rows;
}

function waitText(ns, state) {
	return `${formatNs(ns, 4)} ${state === 'preempted' || state === 'throttled' ? `while ${state}` : 'after it was woken up'}`;
}

function wakerParts(model, waker, cpu, act) {
	if (!waker)
		return 'not known';
	if (waker.what === 'interrupt')
		return 'an interrupt';
	if (waker.slice < 0)
		return taskText(waker.task);
	return [
		detailButton(taskText(waker.task), () => act.select(model, waker.slice)),
		` on CPU ${cpu(waker.slice)}`,
	];
}

// Return the rows about the wait: what its CPU ran meanwhile, and the components of the wait in the
// report `explain`, which may begin before the part does.
function meanwhileRows(model, slice, found) {
	const start = model.slices.start[slice];
	const wait = model.wait[slice];
	const rows = [];

	if (wait > 0)
		rows.push([
			'Meanwhile',
			mostly(
				model.ranMeanwhile(model.laneOf(slice), start - wait, start),
				([, ns]) => ns
			).map(([runner, ns]) => shareRow(runnerText(model, runner), ns, wait)),
		]);
	if (found)
		rows.push([
			'Found',
			[
				element('div', {}, found.verdict.replaceAll('_', ' ')),
				...mostly(found.pieces, ({ ns }) => ns).map((piece) =>
					shareRow(
						`${piece.kind.replaceAll('_', ' ')}${piece.comm ? `: ${taskName(piece)}` : ''}`,
						piece.ns,
						found.wait_ns
					)
				),
			],
		]);
	return rows;
}

// Return the largest items of a list, the largest first, at most MOST_ROWS.
function mostly(list, size) {
	return [...list].sort((a, b) => size(b) - size(a)).slice(0, MOST_ROWS);
}

function shareRow(text, ns, all) {
	return element(
		'div',
		{ class: 'share-row' },
		element('span', {}, text),
		' ',
		element(
			'span',
			{ class: 'share' },
			`${formatNs(ns)}, ${((100 * ns) / all).toFixed(0)} %`
		)
	);
}

function followedRows(model, slice, task, act) {
	const { first, start, end, runner } = model.slices;
	const next = slice + 1 < first[model.laneOf(slice) + 1] ? slice + 1 : -1;
	const rows = [];

	if (task)
		rows.push(['Then', thenText(model, slice)]);
	if (next >= 0)
		rows.push([
			'Next',
			[
				detailButton(runnerText(model, runner[next]), () =>
					act.select(model, next)
				),
				start[next] > end[slice]
					? ` after ${formatNs(start[next] - end[slice])} of idle`
					: ' at once',
			],
		]);
	return rows;
}

function thenText(model, slice) {
	const went = WENT[model.how[slice] >> 2 & 7] || 'not known';
	const next = model.neighbour(slice, 1);

	if (next < 0)
		return went;
	const gap = model.slices.start[next] - model.slices.end[slice];
	return `${went}; ran again ${formatNs(gap)} later`;
}

// Fill the panel for a range. `noTasks` is the sentence to show if the model has no slices.
export function showRangeDetails(panel, { model, from, to, noTasks, act }) {
	panel.replaceChildren(
		element(
			'h3',
			{},
			formatNs(to - from, 4),
			' ',
			element('small', {}, `${formatMoment(from)} to ${formatMoment(to)}`)
		),
		element(
			'p',
			{ class: 'buttons' },
			detailButton('fit', () => act.fit())
		)
	);
	if (!model)
		return;
	const sums = rangeStatistics(model, from, to);
	const percent = (ns) => `${((100 * ns) / (to - from)).toFixed(1)} %`;
	panel.append(
		element('h4', {}, 'CPUs'),
		plainTable(
			['CPU', 'busy', 'unknown'],
			sums.cpus.map((row) => [
				String(row.cpu),
				percent(row.busy_ns),
				row.offline_ns > 0
					? `${percent(row.unknown_ns)} (offline ${percent(row.offline_ns)})`
					: percent(row.unknown_ns),
			])
		)
	);
	if (!sums.hasTasks) {
		panel.append(element('p', {}, noTasks));
		return;
	}
	panel.append(
		element(
			'h4',
			{},
			sums.tasks.length > MOST_ROWS
				? `Tasks: the busiest ${MOST_ROWS} of ${sums.tasks.length}`
				: 'Tasks'
		),
		scrollBox(
			'Tasks of the range',
			plainTable(
				['task', 'ran', 'waits', 'waited', 'longest'],
				sums.tasks
					.slice(0, MOST_ROWS)
					.map((row) => [
						taskName(row),
						formatNs(row.run_ns),
						String(row.waits),
						formatNs(row.wait_ns),
						formatNs(row.max_ns),
					])
			)
		)
	);
}

export function showHint(panel, text) {
	panel.replaceChildren(element('p', { class: 'hint' }, text));
}
