// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Loads the page's data (docs/internals/html.md) from the page's own elements, or from the server
// of schedtap view. Returns reports as objects, and parts as columns of numbers. No other module
// depends on how they are encoded.

const MAX_EXACT_DIGITS = 15;
// Keys in reports whose value is an absolute time, not a duration. In histograms the same keys have
// durations: see isMoment().
const MOMENTS = /^(from|to|time|ts|at|max_at|max_from)_ns$/;
const TYPES = { u8: Uint8Array, u32: Uint32Array, f32: Float32Array };

// A part of the recording. A column is decoded when it is first needed. If `bytes` is only the
// beginning of the part, `readRest` loads the rest.
export class Part {
	constructor(bytes, readRest = async () => new Uint8Array(0)) {
		const length =
			bytes.length < 4
				? Infinity
				: new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);

		if (length > bytes.length - 4)
			throw new Error('a part of this page is cut off');
		Object.assign(
			this,
			JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)))
		);
		this.bytes = bytes;
		this.readRest = readRest;
		this.decoded = new Map();
	}

	// Wait until the whole part has been loaded. Throws an error if the part is cut off.
	complete() {
		return this.completed ??= this.readRest().then((rest) => {
			this.bytes = joinBytes([this.bytes, rest]);
			if (!Object.keys(this.columns).every((name) => this.has(name)))
				throw new Error('a part of this page is cut off');
		});
	}

	// Whether the part has the column, and the column has been loaded.
	has(name) {
		return (
			Object.hasOwn(this.columns, name) &&
			this.columns[name][0] + this.columns[name][1] <= this.bytes.length
		);
	}

	// Return the numbers of a column, none if the part lacks it. Throws an error if there are
	// not `count` (undefined: any number). Varints are decoded to an array of type `Kind`
	// [Float64Array].
	column(name, count, Kind) {
		let numbers = this.decoded.get(name);

		if (!numbers) {
			numbers = this.decode(name, count, Kind);
			this.decoded.set(name, numbers);
		}
		return numbers;
	}

	decode(name, count, Kind = Float64Array) {
		const [at, length, type] = Object.hasOwn(this.columns, name)
			? this.columns[name]
			: [0, 0, 'u8'];
		const bytes = this.bytes.subarray(at, at + length);

		if (bytes.length !== length)
			throw new Error(`column '${name}' of this page is cut off`);
		if (type === 'varint')
			return decodeVarints(bytes, count ?? countVarints(bytes), Kind, name);
		const numbers = new TYPES[type](bytes.slice().buffer);
		if (count !== undefined && numbers.length !== count)
			throw new Error(
				`column '${name}' of this page has ${numbers.length} numbers where ${count} belong`
			);
		return numbers;
	}
}

function countVarints(bytes) {
	let count = 0;

	for (let i = 0; i < bytes.length; i++)
		count += bytes[i] < 0x80;
	return count;
}

// Decode a column of varints: the first bytes of all numbers, then the second bytes of those
// numbers that have one, and so on.
function decodeVarints(bytes, count, Kind, name) {
	// a damaged part may have a huge count, but each number takes at least one byte
	const numbers = new Kind(Math.min(count, bytes.length));
	const open = new Uint32Array(numbers.length); // indexes of numbers with more bytes
	let nrOpen = 0;
	let at = numbers.length;

	for (let i = 0; i < at; i++) {
		numbers[i] = bytes[i] & 0x7f;
		if (bytes[i] >= 0x80)
			open[nrOpen++] = i;
	}
	for (let unit = 128; nrOpen && nrOpen <= bytes.length - at; unit *= 128) {
		const nr = nrOpen;

		nrOpen = 0;
		for (let k = 0; k < nr; k++) {
			const byte = bytes[at++];

			numbers[open[k]] += (byte & 0x7f) * unit;
			if (byte >= 0x80)
				open[nrOpen++] = open[k];
		}
	}
	if (numbers.length < count || nrOpen || at !== bytes.length)
		throw new Error(
			`column '${name}' of this page does not have the ${count} numbers that belong there`
		);
	return numbers;
}

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text);
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

function joinBytes(chunks) {
	const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
	let at = 0;

	for (const chunk of chunks) {
		all.set(chunk, at);
		at += chunk.length;
	}
	return all;
}

// Return all bytes of a stream. Reading it through a Response takes twice as long; making a Blob of
// the input first takes five times as long.
async function readAll(reader) {
	const chunks = [];

	for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
		chunks.push(chunk.value);
	return joinBytes(chunks);
}

// Older browsers have no DecompressionStream, or one that only supports other formats.
function openInflater() {
	try {
		return new DecompressionStream('deflate-raw');
	} catch {
		throw new Error(
			"This browser cannot read the page: it has no DecompressionStream for 'deflate-raw'. " +
				'Chromium since 103, Firefox since 113 and Safari since 16.4 have it.'
		);
	}
}

async function inflate(bytes) {
	const stream = openInflater();
	const writer = stream.writable.getWriter();

	// an error in the data is reported by the reader below
	Promise.all([writer.write(bytes), writer.close()]).catch(() => {});
	try {
		return await readAll(stream.readable.getReader());
	} catch (error) {
		throw new Error(`this page is damaged: ${error.message}`);
	}
}

// Parse a report, and convert each absolute time to nanoseconds from the origin. Absolute times may
// have more digits than a double: they are kept as text until they are converted as BigInt. The
// pattern finds only members, not text in JSON strings, where each quote has a backslash before it.
export function parseReport(text, origin) {
	const exact = text.replace(/("[a-z_]*_ns":)(\d+)/g, (all, key, digits) =>
		digits.length > MAX_EXACT_DIGITS ? `${key}"${digits}"` : all
	);
	const zero = BigInt(origin);

	const walk = (value, parent) => {
		for (const key of Object.keys(value)) {
			const member = value[key];

			if (member !== null && typeof member === 'object')
				walk(member, Array.isArray(value) ? parent : key);
			else if (member !== null && isMoment(key, parent))
				value[key] = Number(BigInt(member) - zero);
			else if (key.endsWith('_ns') && typeof member === 'string')
				value[key] = Number(member);
		}
		return value;
	};
	return walk(JSON.parse(exact), '');
}

function isMoment(key, parent) {
	return (
		(parent !== 'hist' && MOMENTS.test(key)) ||
		(parent === 'recording' && (key === 'start_ns' || key === 'end_ns'))
	);
}

// Return the index of the finest part that covers the window. A part with slices is finer than one
// without; otherwise the shorter one is. If no part does, return 0.
export function pickPart(parts, from, to) {
	let best = 0;

	parts.forEach((part, i) => {
		const current = parts[best];
		const covers = part.from_ns <= from && part.to_ns >= to;
		const finer = part.slices === current.slices
			? part.to_ns - part.from_ns < current.to_ns - current.from_ns : part.slices;

		if (covers && finer)
			best = i;
	});
	return best;
}

class EmbeddedSource {
	constructor(document, head) {
		this.document = document;
		this.head = head;
		this.parts = new Map();
		this.read = new Set(); // ids of elements that were read and removed
	}

	async report(name) {
		const bytes = await this.data(`report-${name}`);

		return parseReport(new TextDecoder().decode(bytes), this.head.origin_ns);
	}

	part(from, to) {
		const i = pickPart(this.head.parts, from, to);

		if (!this.parts.has(i))
			this.parts.set(i, this.readPart(i));
		return this.parts.get(i);
	}

	// Read a part. If it has pieces before the page's script, read only these, which are enough
	// to draw CPUs; Part.complete() reads the others.
	async readPart(i) {
		const [first, later] = this.head.parts[i].pieces;
		const read = async (from, to) => {
			const pieces = [];

			for (let piece = from; piece < to; piece++)
				pieces.push(await this.data(`part-${i}-${piece}`));
			return joinBytes(pieces);
		};

		return first ? new Part(await read(0, first), () => read(first, first + later))
			: new Part(await read(0, later));
	}

	// Return an element's data, decompressed. Removes the element, because its text would stay
	// in memory in addition to the data.
	async data(id) {
		const element = await this.element(id);
		const text = element.textContent;

		element.remove();
		this.read.add(id);
		return inflate(fromBase64(text));
	}

	// Wait until the browser has loaded the whole page. Throws an error if the page is cut off.
	async end() {
		const last = this.head.parts.length - 1;
		const [first, later] = this.head.parts[last].pieces;
		const id = `part-${last}-${first + later - 1}`;

		if (!this.read.has(id))
			await this.element(id);
	}

	// Return an element when all of its text has been loaded, that is, when another node
	// follows it. The script runs while the browser still loads the elements after the script.
	async element(id) {
		const find = () => this.document.getElementById(id);

		if (!find()?.nextSibling)
			await allRead(this.document);
		if (!find()?.nextSibling)
			throw new Error(
				`this page is cut off, as a download or a mail may be: it ends before the end of its data '${id}'`
			);
		return find();
	}
}

function allRead(document) {
	return new Promise((resolve) =>
		document.readyState === 'loading'
			? document.addEventListener('DOMContentLoaded', resolve, { once: true })
			: resolve()
	);
}

class ServedSource {
	constructor(document, head) {
		this.head = head;
		this.token = new URLSearchParams(document.location.search).get('token') ?? '';
		// schedtap view ends when no page has this request open. An error needs no report
		// here: the next request fails, too
		this.ask('/alive').then((response) => response.text()).catch(() => {});
	}

	async ask(path) {
		let response;

		try {
			response = await fetch(path, { headers: { 'X-Token': this.token } });
		} catch {
			throw new Error('schedtap does not answer: it has ended');
		}
		if (!response.ok)
			throw new Error(
				`schedtap cannot answer: ${(await response.text()).trim() || response.status}`
			);
		return response;
	}

	async report(name) {
		return parseReport(
			await (await this.ask(`/report/${encodeURIComponent(name)}`)).text(),
			this.head.origin_ns
		);
	}

	async part(from, to, buckets, tasks = []) {
		const rows = tasks.length ? `&tasks=${tasks}` : '';
		const path = `/part?from=${Math.floor(from)}&to=${Math.ceil(to)}&buckets=${buckets}${rows}`;

		return new Part(new Uint8Array(await (await this.ask(path)).arrayBuffer()));
	}

	async end() {}
}

// Return an object with the page's .head and these functions, all asynchronous:
//   report(name): return the report
//   part(from, to, buckets, tasks): return a part that covers at least [from, to]. Its data may be
//     incomplete until Part.complete() returns. `tasks` selects the rows in it: tids, 'most' (the
//     tasks that ran and waited most, and curves) or [] (none). A file ignores buckets and tasks.
//   end(): wait until the page itself has been loaded
export function openSource(document) {
	const text = document.getElementById('head')?.textContent;

	if (!text)
		throw new Error("this page has no 'head': it is cut off");
	const head = JSON.parse(text);
	return head.served ? new ServedSource(document, head) : new EmbeddedSource(document, head);
}
