// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reads the data of a page that `schedtap export --to html` wrote, as docs/internals/html.md has them. Whatever is not as it says is thrown as an error.
import fs from "node:fs";
import zlib from "node:zlib";

const PIECE = 512 << 10;
const widths = { u8: 1, u32: 4, f32: 4 };

function need(holds, what) {
	if (!holds)
		throw new Error(what);
}

// The first bytes of all numbers, then the second ones of those that go on, and so forth.
function varints(bytes) {
	const out = Array.from(bytes.filter((byte) => byte < 128), () => 0); // each ends once
	let at = 0;

	for (let open = [...out.keys()], factor = 1; open.length; factor *= 128) {
		const goesOn = [];

		for (const i of open) {
			need(at < bytes.length, "a varint goes on after its column");
			out[i] += (bytes[at] & 127) * factor;
			if (bytes[at++] & 128)
				goesOn.push(i);
		}
		open = goesOn;
	}
	need(at === bytes.length, "bytes after the last varint");
	return out;
}

function column(part, [at, bytes, type]) {
	need(at % 8 === 0 && at + bytes <= part.length, "a column is not where it may be");
	const data = part.subarray(at, at + bytes);

	if (type === "varint")
		return varints(data);
	need(widths[type] && bytes % widths[type] === 0, `a column of ${type}`);
	if (type === "u8")
		return data;
	return Array.from({ length: bytes / 4 }, (_, i) => type === "u32" ? data.readUInt32LE(4 * i) : data.readFloatLE(4 * i));
}

// Return: what the part's JSON says, with the columns' numbers in place of their places.
export function readPart(part) {
	const n = part.readUInt32LE(0);
	const out = JSON.parse(part.subarray(4, 4 + n).toString("utf8"));
	let end = 4 + n;

	need(end % 8 === 0, "the columns begin at no multiple of 8");
	for (const [name, place] of Object.entries(out.columns)) {
		need(place[0] >= end && place[0] < end + 8, `${name} does not follow the column before it`);
		end = place[0] + place[1];
		out.columns[name] = column(part, place);
	}
	need(end === part.length, "bytes after the last column");
	return out;
}

export function readPage(path) {
	const text = fs.readFileSync(path, "utf8");
	const elements = [...text.matchAll(/<script type="text\/plain" class="(\w+)" id="\w+?-([\w-]+)">([A-Za-z0-9+/]*=*)<\/script>/g)];
	const unpack = (data) => zlib.inflateRawSync(Buffer.from(data, "base64"));
	const of = (kind) => elements.filter((e) => e[1] === kind).map((e) => [e[2], unpack(e[3])]);
	const head = text.match(/<script type="application\/json" id="head">([^<]*)<\/script>/);

	need(head, "no head");
	need(!text.includes("\ufffd") || JSON.stringify(JSON.parse(head[1])).includes("\ufffd"), "bytes that are not UTF-8");
	return {
		text,
		head: JSON.parse(head[1]),
		reports: Object.fromEntries(of("report").map(([name, data]) => [name, JSON.parse(data.toString("utf8"))])),
		parts: joinPieces(JSON.parse(head[1]).parts, of("part")).map(readPart),
	};
}

// Of all parts those that stand before the page's script come first.
function joinPieces(parts, pieces) {
	const bytes = new Map(pieces);
	const joined = parts.map(({ pieces: [before, after] }, i) => Buffer.concat(Array.from({ length: before + after }, (_, piece) => {
		const id = `${i}-${piece}`;

		need(bytes.has(id), `no piece ${id}`);
		need(bytes.get(id).length === PIECE || piece === before + after - 1, `piece ${id} has another length`);
		return bytes.get(id);
	})));

	need(pieces.length === parts.reduce((sum, { pieces: [before, after] }) => sum + before + after, 0), "pieces that no part has");
	return joined;
}

// The slices of a part, lane after lane.
export function slicesOf(part, cpus) {
	const c = part.columns, out = [];
	let i = 0;

	for (let lane = 0; lane < cpus.length; lane++) {
		let at = part.from_ns;

		for (let k = 0; k < c["slices.nr"][lane]; k++, i++) {
			const from = at + c["slices.gap"][i];

			at = from + c["slices.ns"][i];
			out.push({ lane, cpu: cpus[lane], from, to: at, runner: c["slices.runner"][i], came: c["slices.how"][i] & 3,
				left: c["slices.how"][i] >> 2 & 7, before: !!(c["slices.how"][i] & 32), wait: c["slices.wait"][i],
				waker: c["slices.waker"][i], last: c["slices.from"][i] });
		}
	}
	need(i === part.slices, "other than as many slices as it says");
	for (const name of ["gap", "ns", "runner", "how", "wait", "waker", "from"])
		need(c[`slices.${name}`].length === i, `slices.${name} has another length`);
	return out;
}

// The levels of CPUs, the finest first: [{ ns, buckets, cells: { NAME: [...] } }], row after row in each.
export function levelsOf(part, rows) {
	return Array.from({ length: part.levels.count }, (_, level) => {
		const buckets = Math.ceil(part.levels.buckets / 4 ** level);
		const cells = Object.fromEntries(["runner", "busy", "unknown", "wait", "depth"].map((n) => [n, part.columns[`levels.${level}.${n}`]]));

		for (const [name, numbers] of Object.entries(cells))
			need(numbers.length === rows * buckets, `${name} of level ${level} has another length`);
		return { ns: part.levels.ns * 4 ** level, buckets, cells };
	});
}
