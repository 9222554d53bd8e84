// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The script of beside.html: keeps the pages of several machines at the same time (follow.mjs). It
// runs before the first page is read.

const recordings = new Map(); // window of a page that is ready -> { origin, length }

// Tell each page where its recording is in the time of all.
function tellWhole() {
	const all = [...recordings.values()];
	const first = all.reduce(
		(least, { origin }) => origin < least ? origin : least,
		all[0].origin
	);
	const offset = ({ origin }) => Number(origin - first);
	const whole = Math.max(...all.map((one) => offset(one) + one.length));

	for (const [page, one] of recordings)
		page.postMessage({ offset: offset(one), whole }, '*');
}

window.addEventListener('message', ({ source, data }) => {
	const frames = [...document.querySelectorAll('iframe')];

	if (!frames.some((frame) => frame.contentWindow === source))
		return;
	if (data.origin) {
		recordings.set(source, { origin: BigInt(data.origin), length: data.length });
		tellWhole();
	}
	if (data.shown)
		for (const page of recordings.keys())
			if (page !== source)
				page.postMessage(data, '*');
});
