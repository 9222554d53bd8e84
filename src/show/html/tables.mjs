// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Tables that sort and filter: CPUs (the time line in numbers), tasks, wakers, migrations, and the
// cgroups that delay each other. The document contains only the first rows of a long table, until
// the user asks for more.

import { byId, countOf, element, formatCount, placeLink, safeName, scrollBox, taskName } from './dom.mjs';

const FIRST_ROWS = 15;
const MORE_ROWS = 200;
const MOST_CGROUPS = 12;

/* ---- a table ---- */

// A column is { head, unit, of(row), text(row), digits, isNumber }: of() returns the value to sort
// by, text() the content of the cell. Without text(), the cell shows that value as a number with
// `digits` decimals. `isNumber` marks a column that has text() as numeric, too.
class SortedTable {
	constructor({ id, title, columns, rows, omitted, sortBy, descending = true }) {
		Object.assign(this, {
			id,
			title,
			columns,
			rows,
			omitted,
			sortBy,
			descending,
			limit: FIRST_ROWS,
		});
		this.texts = new Map();
		this.filter = element('input', {
			type: 'search',
			placeholder: 'filter',
			'aria-label': `Filter ${title}`,
			autocomplete: 'off',
			oninput: () => this.fill(FIRST_ROWS),
		});
		this.count = element('span', { class: 'hint', role: 'status' });
		this.body = element('tbody');
		this.more = element('button', {
			type: 'button',
			onclick: () =>
				this.fill(
					this.limit < MORE_ROWS ? MORE_ROWS : this.limit + MORE_ROWS
				),
		});
		this.heads = columns.map((column, i) =>
			element(
				'th',
				{ scope: 'col', class: isNumeric(column) ? 'number' : null },
				element(
					'button',
					{ type: 'button', onclick: () => this.sort(i) },
					column.head,
					column.unit ? element('small', {}, ` ${column.unit}`) : null
				)
			)
		);
		this.fill(FIRST_ROWS);
	}

	get element() {
		return element(
			'section',
			{ class: 'sorted', id: this.id, 'aria-labelledby': `${this.id}-title` },
			element(
				'div',
				{ class: 'toolbar' },
				element('h3', { id: `${this.id}-title` }, this.title),
				this.rows.length > FIRST_ROWS ? this.filter : null,
				this.count
			),
			scrollBox(
				`${this.title}, table`,
				element(
					'table',
					{},
					element('thead', {}, element('tr', {}, this.heads)),
					this.body
				)
			),
			this.more
		);
	}

	sort(i) {
		// a newly chosen column sorts numbers from the greatest, names from A to Z
		this.descending = this.sortBy === i ? !this.descending : isNumeric(this.columns[i]);
		this.sortBy = i;
		this.fill(this.limit);
	}

	textOf(row) {
		if (!this.texts.has(row))
			this.texts.set(
				row,
				this.columns
					.map((column) => (isNumeric(column) ? '' : column.of(row)))
					.join(' ')
					.toLowerCase()
			);
		return this.texts.get(row);
	}

	chosen() {
		const wanted = this.filter.value.trim().toLowerCase();
		const { of } = this.columns[this.sortBy];
		const rows = this.rows.filter(
			(row) => !wanted || this.textOf(row).includes(wanted)
		);
		const sign = this.descending ? -1 : 1;

		// unknown values come last in either direction
		return rows.sort((a, b) => {
			const [x, y] = [of(a), of(b)];
			if (x === y)
				return 0;
			return isAbsent(x) || isAbsent(y)
				? isAbsent(x) - isAbsent(y)
				: (x < y ? -1 : 1) * sign;
		});
	}

	fill(limit) {
		const rows = this.chosen();

		this.limit = limit;
		this.heads.forEach((head, i) =>
			head.setAttribute(
				'aria-sort',
				i !== this.sortBy
					? 'none'
					: this.descending
						? 'descending'
						: 'ascending'
			)
		);
		this.body.replaceChildren(...rows.slice(0, limit).map((row) => this.row(row)));
		this.count.textContent =
			`${rows.length === this.rows.length ? '' : `${formatCount(rows.length)} of `}${countOf(this.rows.length, 'row')}` +
			(this.omitted
				? `; ${formatCount(this.omitted)} more are not in this page`
				: '');
		this.more.hidden = rows.length <= limit;
		this.more.textContent = `Show ${Math.min(rows.length - limit, limit < MORE_ROWS ? MORE_ROWS - limit : MORE_ROWS)} more`;
	}

	row(row) {
		return element(
			'tr',
			{},
			this.columns.map((column) =>
				element(
					'td',
					{ class: isNumeric(column) ? 'number' : null },
					column.text
						? column.text(row)
						: numberText(column.of(row), column)
				)
			)
		);
	}
}

function isAbsent(value) {
	return value === null || value === undefined;
}

function isNumeric(column) {
	return column.isNumber || !column.text;
}

function numberText(value, { digits = 0 } = {}) {
	if (isAbsent(value))
		return element('span', { class: 'hint', title: 'not known' }, '–');
	return value.toLocaleString('en-US', {
		minimumFractionDigits: digits,
		maximumFractionDigits: digits,
	});
}

const nameColumn = (head, of) => ({ head, of, text: of });
const countColumn = (head, key) => ({ head, of: (row) => row[key] });
const msColumn = (head, key) => ({
	head,
	unit: 'ms',
	digits: 3,
	of: (row) => (isAbsent(row[key]) ? null : row[key] / 1e6),
});
const usColumn = (head, key) => ({
	head,
	unit: 'µs',
	digits: 1,
	of: (row) => (isAbsent(row[key]) ? null : row[key] / 1e3),
});
const shareColumn = (head, key, whole) => ({
	head,
	unit: '%',
	digits: 1,
	of: (row) => (isAbsent(row[key]) ? null : (100 * row[key]) / whole),
});

/* ---- the tables of the page ---- */

export function showTables(head, reports, go) {
	const { summary, wakers, migrations, cgroups } = reports;
	const tables = [
		summary && cpuTable(head, summary),
		summary && taskTable(head, reports, go),
		wakers && wakerTable(wakers),
		migrations && migratedTable(migrations),
		migrations && moveTable(migrations),
		cgroups && cgroupTable(cgroups),
	];

	byId('tables').replaceChildren(
		...tables.filter((table) => table?.rows.length).map((table) => table.element),
		...[cgroups && cgroupMatrix(cgroups)].filter(Boolean)
	);
}

// Return how many rows of a report's list are not in the page.
function omittedOf(report, list) {
	return report.omitted?.[list] ?? 0;
}

function cpuTable(head, summary) {
	const whole = head.window_ns;

	return new SortedTable({
		id: 'table-cpus',
		title: 'CPUs: the time line in numbers',
		rows: summary.cpus,
		omitted: omittedOf(summary, 'cpus'),
		sortBy: 0,
		descending: false,
		columns: [
			{ head: 'CPU', of: (row) => row.cpu },
			msColumn('run', 'run_ns'),
			shareColumn('run', 'run_ns', whole),
			msColumn('idle', 'idle_ns'),
			shareColumn('idle', 'idle_ns', whole),
			msColumn('unknown', 'unknown_ns'),
			shareColumn('unknown', 'unknown_ns', whole),
			msColumn('offline', 'offline_ns'),
			countColumn('switches', 'switches'),
			countColumn('lost', 'lost'),
			{
				head: 'util',
				unit: 'of 1024',
				digits: 0,
				of: (row) => row.util?.avg ?? null,
			},
			{
				head: 'queue',
				unit: 'tasks',
				digits: 2,
				of: (row) => row.nr_running?.avg ?? null,
			},
		],
	});
}

function taskTable(head, { summary, latency }, go) {
	const waits = new Map(
		(latency?.tasks ?? []).map((task) => [`${task.tid} ${task.comm}`, task])
	);
	const wait = (row) => waits.get(`${row.tid} ${row.comm}`);
	const longest = (row) => wait(row)?.max_ns ?? null;
	const link = (row) => {
		const { max_ns: ns, max_at_ns: at, max_cpu: cpu } = wait(row) ?? {};
		return isAbsent(ns)
			? element('span', { class: 'hint' }, '–')
			: placeLink(
					{ from: at - ns, to: at, cpu, tid: row.tid },
					go,
					{},
					numberText(ns / 1e6, { digits: 3 })
				);
	};

	return new SortedTable({
		id: 'table-tasks',
		title: 'Tasks',
		rows: summary.tasks,
		omitted: omittedOf(summary, 'tasks'),
		sortBy: 2,
		columns: [
			nameColumn('task', taskName),
			nameColumn('cgroup', (row) => safeName(row.cgroup ?? '')),
			msColumn('run', 'run_ns'),
			shareColumn('run', 'run_ns', head.window_ns),
			msColumn('woken, waiting', 'waking_ns'),
			msColumn('preempted', 'preempted_ns'),
			msColumn('throttled', 'throttled_ns'),
			msColumn('asleep', 'sleep_ns'),
			msColumn('blocked', 'blocked_ns'),
			msColumn('unknown', 'unknown_ns'),
			countColumn('slices', 'slices'),
			countColumn('moves', 'migrations'),
			{
				head: 'wait p99',
				unit: 'ms',
				digits: 3,
				of: (row) =>
					isAbsent(wait(row)?.p99_ns) ? null : wait(row).p99_ns / 1e6,
			},
			{
				head: 'longest wait',
				unit: 'ms',
				of: longest,
				text: link,
				isNumber: true,
			},
		],
	});
}

function wakerTable(wakers) {
	const waker = (row) =>
		isAbsent(row.waker_tid)
			? 'not known'
			: taskName({ comm: row.waker_comm, tid: row.waker_tid });

	return new SortedTable({
		id: 'table-wakers',
		title: 'Who woke whom',
		rows: wakers.pairs,
		omitted: omittedOf(wakers, 'pairs'),
		sortBy: 2,
		columns: [
			nameColumn('waker', waker),
			nameColumn('woken', taskName),
			countColumn('wakeups', 'count'),
			usColumn('average wait', 'avg_ns'),
			usColumn('p99', 'p99_ns'),
			usColumn('longest', 'max_ns'),
			countColumn('same CPU', 'same_cpu'),
			countColumn('other CPU', 'other_cpu'),
		],
	});
}

const moveColumns = ['total', 'wakeup', 'balance', 'other'].map((key) =>
	countColumn(key === 'total' ? 'moves' : key, key)
);

function migratedTable(migrations) {
	return new SortedTable({
		id: 'table-migrations',
		title: 'Migrations of tasks',
		rows: migrations.tasks,
		omitted: omittedOf(migrations, 'tasks'),
		sortBy: 1,
		columns: [nameColumn('task', taskName), ...moveColumns],
	});
}

function moveTable(migrations) {
	return new SortedTable({
		id: 'table-moves',
		title: 'Migrations between CPUs',
		rows: migrations.pairs,
		omitted: omittedOf(migrations, 'pairs'),
		sortBy: 2,
		columns: [
			countColumn('from CPU', 'from_cpu'),
			countColumn('to CPU', 'to_cpu'),
			...moveColumns,
		],
	});
}

function pathText(path) {
	return path === null ? 'not known' : safeName(path);
}

function cgroupTable(cgroups) {
	return new SortedTable({
		id: 'table-cgroups',
		title: 'Cgroups that delay each other',
		rows: cgroups.cgroups,
		omitted: omittedOf(cgroups, 'cgroups'),
		sortBy: 3,
		columns: [
			nameColumn('who waited', (row) => pathText(row.victim)),
			nameColumn('who ran', (row) => pathText(row.aggressor)),
			countColumn('waits', 'waits'),
			msColumn('delay', 'delay_ns'),
			{ head: 'of all', unit: '%', digits: 1, of: (row) => row.delay_pct },
			msColumn('longest', 'max_ns'),
		],
	});
}

// Create a matrix of the delays between cgroups, for those with the largest sum of delays that they
// caused and suffered.
function cgroupMatrix({ cgroups }) {
	const sums = new Map();

	for (const { victim, aggressor, delay_ns: ns } of cgroups)
		for (const path of new Set([victim, aggressor]))
			sums.set(path, (sums.get(path) ?? 0) + ns);
	const paths = [...sums]
		.sort((a, b) => b[1] - a[1])
		.slice(0, MOST_CGROUPS)
		.map(([path]) => path);
	if (paths.length < 2)
		return null;
	const cell = (victim, aggressor) =>
		cgroups.find((row) => row.victim === victim && row.aggressor === aggressor)
			?.delay_ns ?? 0;
	const most = Math.max(
		...paths.flatMap((victim) => paths.map((aggressor) => cell(victim, aggressor)))
	);

	return element(
		'section',
		{ class: 'sorted', id: 'cgroup-matrix', 'aria-labelledby': 'cgroup-matrix-title' },
		element(
			'div',
			{ class: 'toolbar' },
			element('h3', { id: 'cgroup-matrix-title' }, 'Cgroup matrix'),
			element(
				'span',
				{ class: 'hint' },
				`ms that a row's tasks waited while a column's ran${sums.size > paths.length ? `; the ${paths.length} of ${sums.size} with the most` : ''}`
			)
		),
		scrollBox(
			'Cgroup matrix, table',
			element(
				'table',
				{ class: 'matrix' },
				element(
					'thead',
					{},
					element(
						'tr',
						{},
						element('td', {}, 'waited \\ ran'),
						paths.map((path) =>
							element(
								'th',
								{ scope: 'col', class: 'number' },
								pathText(path)
							)
						)
					)
				),
				element(
					'tbody',
					{},
					paths.map((victim) =>
						element(
							'tr',
							{},
							element(
								'th',
								{ scope: 'row' },
								pathText(victim)
							),
							paths.map((aggressor) =>
								matrixCell(
									cell(victim, aggressor),
									most
								)
							)
						)
					)
				)
			)
		)
	);
}

function matrixCell(ns, most) {
	return element(
		'td',
		{ class: `number heat-${ns > 0 ? Math.max(1, Math.ceil((4 * ns) / most)) : 0}` },
		ns > 0 ? numberText(ns / 1e6, { digits: 1 }) : ''
	);
}
