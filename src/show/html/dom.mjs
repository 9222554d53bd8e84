// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Makes elements of the page. All names are hostile: texts become text nodes, and nothing here or anywhere else on the page parses markup.

// What a terminal or a reader of right-to-left text would obey, rather than show.
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

// An element with attributes and children: texts, numbers, elements. A function is a listener of the event that `on...` names; what is
// null or false is left out.
export function element(tag, attributes = {}, ...children) {
	const made = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === 'function')
			made.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			made.setAttribute(name, value === true ? '' : value);
	}
	made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
	return made;
}

export function byId(id) {
	return document.getElementById(id);
}

// A name as it is, with what would be obeyed written out.
export function safeName(text) {
	return String(text).replace(OBEYED, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);
}

export function taskName({ comm, tid }) {
	return comm === null || comm === undefined ? tid === 0 ? 'an interrupt' : `[${tid ?? '?'}]` : `${safeName(comm)} [${tid}]`;
}

export function formatCount(number) {
	return number.toLocaleString('en-US');
}

// A share as text: what is not nothing is not "0 %".
export function formatShare(part, whole) {
	const percent = whole > 0 ? 100 * part / whole : 0;

	return percent > 0 && percent < 0.05 ? '< 0.1 %' : `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

// "1 wait", "2 waits".
export function countOf(number, noun) {
	return `${formatCount(number)} ${noun}${number === 1 ? '' : 's'}`;
}

// A link to a place on the time line; the address tells it, so that it can be handed on.
export function placeLink(place, go, attributes, ...children) {
	const more = ['cpu', 'tid'].filter((key) => Number.isFinite(place[key])).map((key) => `&${key}=${place[key]}`).join('');
	const link = element('a', { href: `#t=${Math.floor(place.from)},${Math.ceil(place.to)}${more}`, ...attributes }, ...children);

	// the address as it is already changes nothing, and nobody would hear of it
	link.addEventListener('click', () => link.hash === location.hash && go(place));
	return link;
}

// A box that scrolls by itself, by keys as well.
export function scrollBox(label, ...children) {
	return element('div', { class: 'scroll', role: 'region', 'aria-label': label, tabindex: 0 }, ...children);
}

// A table of texts that does not sort; `numbers`: the columns from there on are numbers.
export function plainTable(heads, rows, numbers = 1) {
	const kind = (i) => ({ class: i >= numbers ? 'number' : null });

	return element('table', {},
		element('thead', {}, element('tr', {}, heads.map((head, i) => element('th', { scope: 'col', ...kind(i) }, head)))),
		element('tbody', {}, rows.map((row) => element('tr', {}, row.map((cell, i) => element('td', kind(i), cell))))));
}
