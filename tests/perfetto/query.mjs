// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// query.mjs FOLDER: asks Perfetto's own trace processor, built for WebAssembly and unpacked in FOLDER (fetch). A line of stdin is
// {"file": ..., "queries": [NAME, SQL, ...]}; a line of stdout its answers, {NAME: [ROW, ...], ...}, with numbers above 2^53 as text.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import vm from 'node:vm';

const folder = resolve(process.argv[2]);
const CHUNK = 32 << 20;

// The bundle is made for a browser's worker: what it looks for there is put in its place. Node 18 has no 64-bit memories.
function loadBridge() {
	const wasm = readFileSync(join(folder, 'trace_processor.wasm'));
	const changes = [
		['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
		['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.wasmOfTest,'],
		['const wasmBridge = new wasm_bridge_1.WasmBridge();', 'const wasmBridge = globalThis.bridgeOfTest = new wasm_bridge_1.WasmBridge();'],
	];
	let source = readFileSync(join(folder, 'engine_bundle.node.js'), 'utf8');

	for (const [from, to] of changes) {
		if (!source.includes(from))
			throw new Error(`the bundle has no '${from}'`);
		source = source.replace(from, to);
	}
	globalThis.wasmOfTest = new Uint8Array(wasm);
	globalThis.WorkerGlobalScope = function () {};
	Object.defineProperty(globalThis, 'self', { value: globalThis, writable: true, configurable: true });
	Object.defineProperty(globalThis, 'location', { value: { href: pathToFileURL(folder).href + '/' }, writable: true, configurable: true });
	console.warn = () => {};
	vm.runInThisContext(source, { filename: 'engine_bundle.node.js' });
	return globalThis.bridgeOfTest;
}

async function makeEngine() {
	const { EngineBase } = await import(pathToFileURL(join(folder, 'engine.mjs')).href);
	const channel = new MessageChannel();

	class Engine extends EngineBase {
		id = 'test';
		mode = 'WASM';
		constructor() {
			super();
			channel.port2.onmessage = (m) => m.data instanceof Uint8Array && this.onRpcResponseBytes(m.data);
		}
		rpcSendRequestBytes(bytes) {
			channel.port2.postMessage(bytes);
		}
	}
	await loadBridge().initialize(channel.port1);
	return new Engine();
}

function rowsOf(result) {
	const columns = result.columns();
	const rows = [];

	for (const it = result.iter({}); it.valid(); it.next()) {
		rows.push(Object.fromEntries(columns.map((c) => {
			const v = it.get(c);

			return [c, typeof v === 'bigint' ? (v <= Number.MAX_SAFE_INTEGER && v >= -Number.MAX_SAFE_INTEGER ? Number(v) : String(v)) : v];
		})));
	}
	return rows;
}

async function answer(engine, { file, queries }) {
	const data = new Uint8Array(readFileSync(file));
	const answers = {};

	await engine.resetTraceProcessor({ cropTrackEvents: false, ingestFtraceInRawTable: true, analyzeTraceProtoContent: false, ftraceDropUntilAllCpusValid: false });
	for (let at = 0; at < data.length; at += CHUNK)
		await engine.parse(data.subarray(at, Math.min(data.length, at + CHUNK)));
	await engine.notifyEof();
	for (let i = 0; i < queries.length; i += 2)
		answers[queries[i]] = rowsOf(await engine.query(queries[i + 1]));
	return answers;
}

const log = console.log;
console.log = () => {}; // the trace processor's own
const engine = await makeEngine();
for await (const line of createInterface({ input: process.stdin }))
	log(JSON.stringify(await answer(engine, JSON.parse(line))));
process.exit(0);
