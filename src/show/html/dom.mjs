// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Creates elements of the page. All names in a recording are untrusted, so texts become text nodes,
// and no module of the page parses markup.

// Control and format characters, which terminals and right-to-left text layout interpret instead of
// showing them.
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

// Create an element with attributes and children, which are texts, numbers, elements or arrays of
// those. An attribute `on...` whose value is a function becomes an event listener. Attributes and
// children that are null, undefined or false are left out.
export function element(tag, attributes = {}, ...children) {
	const made = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === 'function')
			made.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			made.setAttribute(name, value === true ? '' : value);
	}
	made.append(
		...children
			.flat(Infinity)
			.filter((child) => child !== null && child !== undefined && child !== false)
	);
	return made;
}

export function byId(id) {
	return document.getElementById(id);
}

// Return a name with its control and format characters written as \u{...}.
export function safeName(text) {
	return String(text).replace(CONTROLS, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);
}

export function taskName({ comm, tid }) {
	return comm === null || comm === undefined
		? tid === 0
			? 'an interrupt'
			: `[${tid ?? '?'}]`
		: `${safeName(comm)} [${tid}]`;
}

export function formatCount(number) {
	return number.toLocaleString('en-US');
}

// Format a share in percent. A share above 0 is never shown as "0.0 %".
export function formatShare(part, whole) {
	const percent = whole > 0 ? 100 * part / whole : 0;

	return percent > 0 && percent < 0.05
		? '< 0.1 %'
		: `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

// Format a count with its noun: "1 wait", "2 waits".
export function countOf(number, noun) {
	return `${formatCount(number)} ${noun}${number === 1 ? '' : 's'}`;
}

// Create a link to a place on the time line. Its address contains the place, so that users can copy
// it.
export function placeLink(place, go, attributes, ...children) {
	const more = ['cpu', 'tid']
		.filter((key) => Number.isFinite(place[key]))
		.map((key) => `&${key}=${place[key]}`)
		.join('');
	const link = element(
		'a',
		{
			href: `#t=${Math.floor(place.from)},${Math.ceil(place.to)}${more}`,
			...attributes,
		},
		...children
	);

	// following a link to the current address fires no hashchange event, so call go() here
	link.addEventListener('click', () => link.hash === location.hash && go(place));
	return link;
}

// Create a box that scrolls by itself, also by keys.
export function scrollBox(label, ...children) {
	return element(
		'div',
		{ class: 'scroll', role: 'region', 'aria-label': label, tabindex: 0 },
		...children
	);
}

// Create a table of texts that does not sort. The columns from index `numbers` on are numbers.
export function plainTable(heads, rows, numbers = 1) {
	const kind = (i) => ({ class: i >= numbers ? 'number' : null });

	return element(
		'table',
		{},
		element(
			'thead',
			{},
			element(
				'tr',
				{},
				heads.map((head, i) =>
					element('th', { scope: 'col', ...kind(i) }, head)
				)
			)
		),
		element(
			'tbody',
			{},
			rows.map((row) =>
				element(
					'tr',
					{},
					row.map((cell, i) => element('td', kind(i), cell))
				)
			)
		)
	);
}
