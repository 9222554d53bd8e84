// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Where the page's data comes from (docs/internals/html.md): out of the page's own elements, or from the program that serves it. Gives reports
// as objects and parts as columns of numbers; nobody else knows how either is written.

const MAX_EXACT_DIGITS = 15;
// What a report calls a moment, and not a length. Buckets of histograms are lengths under the same names.
const MOMENTS = /^(from|to|time|ts|at|max_at|max_from)_ns$/;
const TYPES = { u8: Uint8Array, u32: Uint32Array, f32: Float32Array };

// The columns of a part, each decoded when it is first asked for. `readRest`: brings what is behind `bytes`, where these are its beginning.
export class Part {
	constructor(bytes, readRest = async () => new Uint8Array(0)) {
		const length = bytes.length < 4 ? Infinity : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);

		if (length > bytes.length - 4)
			throw new Error('a part of this page is cut off');
		Object.assign(this, JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))));
		this.bytes = bytes;
		this.readRest = readRest;
		this.decoded = new Map();
	}

	// Until all of it is there.
	complete() {
		return this.completed ??= this.readRest().then((rest) => {
			this.bytes = joinBytes([this.bytes, rest]);
			if (!Object.keys(this.columns).every((name) => this.has(name)))
				throw new Error('a part of this page is cut off');
		});
	}

	// Whether it can be read by now.
	has(name) {
		return Object.hasOwn(this.columns, name) && this.columns[name][0] + this.columns[name][1] <= this.bytes.length;
	}

	// `count` numbers, or as many as there are. Those of `varint` are doubles unless `Kind` says otherwise.
	column(name, count, Kind) {
		let numbers = this.decoded.get(name);

		if (!numbers) {
			numbers = this.decode(name, count, Kind);
			this.decoded.set(name, numbers);
		}
		return numbers;
	}

	decode(name, count, Kind = Float64Array) {
		const [at, length, type] = Object.hasOwn(this.columns, name) ? this.columns[name] : [0, 0, 'u8'];
		const bytes = this.bytes.subarray(at, at + length);

		if (bytes.length !== length)
			throw new Error(`column '${name}' of this page is cut off`);
		if (type === 'varint')
			return decodeVarints(bytes, count ?? countVarints(bytes), Kind, name);
		const numbers = new TYPES[type](bytes.slice().buffer);
		if (count !== undefined && numbers.length !== count)
			throw new Error(`column '${name}' of this page has ${numbers.length} numbers where ${count} belong`);
		return numbers;
	}
}

function countVarints(bytes) {
	let count = 0;

	for (let i = 0; i < bytes.length; i++)
		count += bytes[i] < 0x80;
	return count;
}

// The first bytes of all numbers, then the second ones of those that go on, and so forth.
function decodeVarints(bytes, count, Kind, name) {
	// each has a byte at least: what a damaged head says is no size to trust
	const numbers = new Kind(Math.min(count, bytes.length));
	const open = new Uint32Array(numbers.length); // those that go on
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
		throw new Error(`column '${name}' of this page does not have the ${count} numbers that belong there`);
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

// By hand: a Response of the stream takes twice as long, a Blob before it five times.
async function readAll(reader) {
	const chunks = [];

	for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
		chunks.push(chunk.value);
	return joinBytes(chunks);
}

// Older ones know other forms alone.
function openInflater() {
	try {
		return new DecompressionStream('deflate-raw');
	} catch {
		throw new Error("This browser cannot read the page: it has no DecompressionStream for 'deflate-raw'. " +
			'Chromium since 103, Firefox since 113 and Safari since 16.4 have it.');
	}
}

async function inflate(bytes) {
	const stream = openInflater();
	const writer = stream.writable.getWriter();

	// what is wrong with it is told by reading
	Promise.all([writer.write(bytes), writer.close()]).catch(() => {});
	try {
		return await readAll(stream.readable.getReader());
	} catch (error) {
		throw new Error(`this page is damaged: ${error.message}`);
	}
}

// A report with each moment as nanoseconds from the origin. Doubles end at 16 digits: moments go by way of BigInt. Within a text of
// JSON a quote has a backslash before it, so that no name is taken for a member.
export function parseReport(text, origin) {
	const exact = text.replace(/("[a-z_]*_ns":)(\d+)/g, (all, key, digits) => digits.length > MAX_EXACT_DIGITS ? `${key}"${digits}"` : all);
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
	return parent !== 'hist' && MOMENTS.test(key) || parent === 'recording' && (key === 'start_ns' || key === 'end_ns');
}

// Of the parts that cover the window the finest: slices before levels, then the shortest.
export function pickPart(parts, from, to) {
	let best = 0;

	parts.forEach((part, i) => {
		const held = parts[best];
		const covers = part.from_ns <= from && part.to_ns >= to;
		const finer = part.slices === held.slices ? part.to_ns - part.from_ns < held.to_ns - held.from_ns : part.slices;

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
		this.read = new Set(); // elements
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

	// Of a part that has pieces before the page's script these: they are enough to draw CPUs.
	async readPart(i) {
		const [first, behind] = this.head.parts[i].pieces;
		const read = async (from, to) => {
			const pieces = [];

			for (let piece = from; piece < to; piece++)
				pieces.push(await this.data(`part-${i}-${piece}`));
			return joinBytes(pieces);
		};

		return first ? new Part(await read(0, first), () => read(first, first + behind)) : new Part(await read(0, behind));
	}

	// What an element holds. Its text is let go: it would stay in memory beside what was made of it.
	async data(id) {
		const element = await this.element(id);
		const text = element.textContent;

		element.remove();
		this.read.add(id);
		return inflate(fromBase64(text));
	}

	// Until the browser has all of the page, which may be cut off.
	async end() {
		const last = this.head.parts.length - 1;
		const [first, behind] = this.head.parts[last].pieces;
		const id = `part-${last}-${first + behind - 1}`;

		if (!this.read.has(id))
			await this.element(id);
	}

	// Whole, once there is something behind it: the script runs while what follows it is still being read.
	async element(id) {
		const find = () => this.document.getElementById(id);

		if (!find()?.nextSibling)
			await allRead(this.document);
		if (!find()?.nextSibling)
			throw new Error(`this page is cut off, as a download or a mail may be: it ends before the end of its data '${id}'`);
		return find();
	}
}

function allRead(document) {
	return new Promise((resolve) => document.readyState === 'loading' ? document.addEventListener('DOMContentLoaded', resolve, { once: true }) : resolve());
}

class ServedSource {
	constructor(document, head) {
		this.head = head;
		this.token = new URLSearchParams(document.location.search).get('token') ?? '';
		// held open: schedtap ends when nobody does any more. That it has ended is told by whatever is asked for next
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
			throw new Error(`schedtap cannot answer: ${(await response.text()).trim() || response.status}`);
		return response;
	}

	async report(name) {
		return parseReport(await (await this.ask(`/report/${encodeURIComponent(name)}`)).text(), this.head.origin_ns);
	}

	async part(from, to, buckets, tasks = []) {
		const rows = tasks.length ? `&tasks=${tasks}` : '';
		const path = `/part?from=${Math.floor(from)}&to=${Math.ceil(to)}&buckets=${buckets}${rows}`;

		return new Part(new Uint8Array(await (await this.ask(path)).arrayBuffer()));
	}

	async end() {}
}

// An object with the .head, `await .report(name)`, and `await .part(from, to, buckets, tasks)`, which may cover more than was asked for, and
// have less of it until it is complete(). `await .end()`: nothing is still to come unasked.
// `tasks`: tids whose rows are wanted; 'most': of those that ran and waited most, with curves; [] (none).
export function openSource(document) {
	const text = document.getElementById('head')?.textContent;

	if (!text)
		throw new Error("this page has no 'head': it is cut off");
	const head = JSON.parse(text);
	return head.served ? new ServedSource(document, head) : new EmbeddedSource(document, head);
}
