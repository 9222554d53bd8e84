// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// What tests print: a line of TAP each, and why one failed on stderr.

let count = 0;
let failed = 0;

export function ok(good, name, ...why) {
	count++;
	failed += good ? 0 : 1;
	process.stdout.write(`${good ? 'ok' : 'not ok'} ${count} - ${name}\n`);
	for (const line of good ? [] : why)
		process.stderr.write(`#   ${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
}

export function same(got, wanted, name) {
	ok(JSON.stringify(got) === JSON.stringify(wanted), name, `got ${JSON.stringify(got)}`, `not ${JSON.stringify(wanted)}`);
}

// There are no more.
export function done() {
	process.stdout.write(`1..${count}\n`);
	process.exitCode = failed ? 1 : 0;
}
