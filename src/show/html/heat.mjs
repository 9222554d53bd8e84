// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// How long tasks waited after wakeups: a histogram, and next to it, with the same axis, the waits
// over time. A click on a column of the latter goes to its interval on the time line. A table has
// the columns' numbers.

import { byId, countOf, element, formatCount, formatShare, plainTable, scrollBox } from './dom.mjs';
import { formatMoment, formatNs } from './viewport.mjs';

const ROWS_PER_DECADE = 6;
const MOST_LABELS = 9;

export function showLatency(head, latency, go) {
	const root = byId('latency');

	if (!latency?.all.count) {
		root.replaceChildren(
			element(
				'p',
				{ class: 'hint' },
				latency
					? 'No task was woken, or the length of every wait is unknown.'
					: 'This page has no latencies.'
			)
		);
		return;
	}
	const axis = latencyAxis(latency);
	root.replaceChildren(
		latencyNumbers(latency.all),
		element(
			'div',
			{ class: 'latency' },
			latencyLabels(axis),
			latencyHistogram(latency.hist ?? [], axis),
			latencyCourse(latency.over_time ?? [], axis, go)
		),
		latencyTable(latency.over_time ?? [], go)
	);
}

function latencyNumbers(all) {
	const cell = (name, ns) =>
		element(
			'div',
			{ class: 'tile', 'data-value': ns },
			element('dt', {}, name),
			element('dd', {}, element('b', {}, formatNs(ns)))
		);

	return element(
		'dl',
		{ class: 'tiles small' },
		element(
			'div',
			{ class: 'tile', 'data-value': all.count },
			element('dt', {}, 'Waits after wakeups'),
			element('dd', {}, element('b', {}, formatCount(all.count)))
		),
		[
			['Half up to', 'p50_ns'],
			['90 % up to', 'p90_ns'],
			['99 % up to', 'p99_ns'],
			['99.9 % up to', 'p999_ns'],
			['Longest', 'max_ns'],
		]
			.filter(([, key]) => typeof all[key] === 'number')
			.map(([name, key]) => cell(name, all[key]))
	);
}

// Return the logarithmic axis of wait times: .low and .high are the decimal logarithms of its ends
// in ns, .rows is the number of the histogram's rows, and .height() converts ns to a position from
// 0 to 1.
function latencyAxis({ all, hist }) {
	const least = Math.max(1, hist?.[0]?.from_ns ?? all.min_ns);
	const low = Math.floor(Math.log10(least));
	const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(all.max_ns, 1) + 1)));

	return {
		low,
		high,
		rows: (high - low) * ROWS_PER_DECADE,
		height: (ns) =>
			Math.min(
				1,
				Math.max(0, (Math.log10(Math.max(ns, 1)) - low) / (high - low))
			),
	};
}

function latencyLabels({ low, high }) {
	const step = Math.ceil((high - low + 1) / MOST_LABELS);
	const labels = [];

	for (let decade = low; decade <= high; decade += step) {
		const label = element('span', {}, formatNs(10 ** decade, 0));
		label.style.bottom = `${100 * (decade - low) / (high - low)}%`;
		labels.push(label);
	}
	return element('div', { class: 'latency-axis', 'aria-hidden': 'true' }, labels);
}

function latencyHistogram(hist, axis) {
	const counts = new Array(axis.rows).fill(0);

	for (const { from_ns: from, to_ns: to, count } of hist)
		counts[
			Math.min(
				axis.rows - 1,
				Math.floor(axis.height((from + to) / 2) * axis.rows)
			)
		] += count;
	const most = Math.max(1, ...counts);
	const bars = counts.map((count, i) => {
		const bar = element('span', {
			title: `${countOf(count, 'wait')} of ${formatNs(edgeOf(axis, i))} to ${formatNs(edgeOf(axis, i + 1))}`,
		});
		bar.style.width = `${(100 * count) / most}%`;
		return bar;
	});
	const peak = counts.indexOf(most);

	return element(
		'div',
		{
			class: 'histogram',
			role: 'img',
			'aria-label': `Histogram of waits: most last ${formatNs(edgeOf(axis, peak))} to ${formatNs(edgeOf(axis, peak + 1))}`,
		},
		bars.reverse()
	);
}

function edgeOf({ low }, row) {
	return 10 ** (low + row / ROWS_PER_DECADE);
}

// Create the chart of waits over time. The Tab key reaches one column, and from there the arrow
// keys reach the others.
function latencyCourse(columns, axis, go) {
	const buttons = columns.map((column, i) => latencyColumn(column, axis, go, i === 0));
	const move = (event) => {
		const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[
			event.key
		];
		const at = buttons.indexOf(document.activeElement);
		if (step === undefined || at < 0)
			return;
		const next = Math.min(buttons.length - 1, Math.max(0, at + step));
		buttons[at].tabIndex = -1;
		buttons[next].tabIndex = 0;
		buttons[next].focus();
		event.preventDefault();
		event.stopPropagation();
	};

	return element(
		'div',
		{ class: 'course-box' },
		element(
			'div',
			{
				class: 'course',
				role: 'group',
				'aria-label':
					'Waits over time: arrows go from column to column, Enter to its place',
				onkeydown: move,
			},
			buttons
		),
		element(
			'p',
			{ class: 'legend' },
			[
				['half', 'half of the waits'],
				['most', '99 % of them'],
				['all', 'the longest'],
				['unknown', 'partly unknown'],
			].map(([kind, text]) =>
				element(
					'span',
					{},
					element('i', {
						class: `course-${kind}`,
						'aria-hidden': 'true',
					}),
					text
				)
			)
		)
	);
}

function latencyColumn(column, axis, go, isFirst) {
	const { from_ns: from, to_ns: to, unknown_ns: unknown } = column;
	const button = element('button', {
		type: 'button',
		tabindex: isFirst ? 0 : -1,
		'aria-label': columnText(column),
		title: columnText(column),
		class: unknown > 0 ? 'course-unknown' : null,
		onclick: () => go({ from, to }),
	});

	for (const [kind, ns] of [
		['all', column.max_ns],
		['most', column.p99_ns],
		['half', column.p50_ns],
	]) {
		if (ns === null)
			continue;
		const bar = element('i', { class: `course-${kind}` });
		bar.style.height = `${100 * axis.height(ns)}%`;
		button.append(bar);
	}
	return button;
}

function columnText({
	from_ns: from,
	to_ns: to,
	count,
	p50_ns: half,
	p99_ns: most,
	max_ns: longest,
	unknown_ns: unknown,
}) {
	return (
		`${formatMoment(from)}: ${countOf(count, 'wait')}${count && longest !== null ? `, half up to ${formatNs(half)}, 99 % up to ${formatNs(most)}, longest ${formatNs(longest)}` : ''}` +
		(unknown > 0 ? `, ${formatShare(unknown, to - from)} unknown` : '')
	);
}

function latencyTable(columns, go) {
	const ms = (ns) => ns === null ? '–' : (ns / 1e6).toFixed(3);
	const rows = columns.map((column) => [
		element(
			'button',
			{
				type: 'button',
				class: 'link',
				onclick: () => go({ from: column.from_ns, to: column.to_ns }),
			},
			formatMoment(column.from_ns)
		),
		formatCount(column.count),
		ms(column.p50_ns),
		ms(column.p99_ns),
		ms(column.max_ns),
		ms(column.unknown_ns),
	]);

	return element(
		'details',
		{},
		element('summary', {}, 'Waits over time as a table'),
		scrollBox(
			'Waits over time, table',
			plainTable(
				[
					'from',
					'waits',
					'half up to, ms',
					'99 % up to, ms',
					'longest, ms',
					'unknown, ms',
				],
				rows
			)
		)
	);
}
