// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// In a file with the pages of several machines, beside.html has a frame for each page. This makes a
// page tell beside.mjs which time it shows, and show the time that another page shows. Times in
// messages are in ns from the start of the earliest recording.

export function followOthers(head, viewport) {
	const { parent } = window;
	let offset = 0; // of this recording's start
	let follows = false;

	if (!head.beside || parent === window)
		return;
	window.addEventListener('message', ({ source, data }) => {
		if (source !== parent)
			return;
		follows = true;
		if (data.whole) {
			offset = data.offset;
			viewport.widen(-offset, data.whole - offset);
		}
		if (data.shown)
			viewport.show(data.shown[0] - offset, data.shown[1] - offset);
		follows = false;
	});
	viewport.onchange(({ from, to }) => {
		if (!follows)
			parent.postMessage({ shown: [from + offset, to + offset] }, '*');
	});
	parent.postMessage({ origin: head.beside.origin_ns, length: head.window_ns }, '*');
}
