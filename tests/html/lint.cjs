// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// The page's modules: each says what it is for and parses; they are one scope when they stand one behind the other, so that no name is
// there twice; nothing in them parses markup or runs text.
const { execFileSync } = require('node:child_process');
const { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join, resolve } = require('node:path');

const html = resolve(__dirname, '../../src/show/html');
const HEADER = /^\/\/ SPDX-License-Identifier: GPL-2\.0-only OR BSD-2-Clause\n\/\/\n\/\/ [A-Z]/;
const PARSES_TEXT = /\.(innerHTML|outerHTML|srcdoc)\b|\b(insertAdjacentHTML|createContextualFragment|setHTMLUnsafe|DOMParser)\b|document\.write|\beval\(|\bFunction\(|\bsetTimeout\(\s*['"`]/;
const TOP_NAME = /^(?:export )?(?:async )?(?:function\*?|class|const|let|var) ([\w$]+)/;
const TOP_DESTRUCTURED = /^(?:export )?(?:const|let|var) [[{]/;
let n = 0;
let failed = 0;

function check(name, problems) {
	n++;
	failed += problems.length > 0;
	console.log(`${problems.length ? 'not ok' : 'ok'} ${n} - ${name}`);
	for (const problem of problems)
		console.error(`#   ${problem}`);
}

// What is wrong with one module's text.
function problemsOf(text) {
	const lines = text.split('\n');
	const problems = HEADER.test(text) ? [] : ['no header that says what it is for'];

	lines.forEach((line, i) => {
		const say = (what) => problems.push(`line ${i + 1} ${what}: ${line.trim()}`);

		if (PARSES_TEXT.test(line))
			say('parses markup or runs text');
		if (/^\s*import\b/.test(line) && !/^import .* from '\.\/[\w.]+';$/.test(line))
			say('is no import of one line');
		if (/^\s*export\b/.test(line) && !/^export (async function|function|class|const|let) /.test(line))
			say('exports no declaration');
		if (TOP_DESTRUCTURED.test(line))
			say('declares names that this test does not see');
	});
	return problems;
}

function parses(text, extension) {
	const folder = mkdtempSync(join(tmpdir(), 'lint-'));
	const file = join(folder, `text.${extension}`);

	try {
		writeFileSync(file, text);
		execFileSync(process.execPath, ['--check', file], { stdio: 'pipe' });
		return [];
	} catch (error) {
		return [String(error.stderr)];
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function topNames(text) {
	return text.split('\n').map((line) => TOP_NAME.exec(line)?.[1]).filter(Boolean);
}

function twice(texts) {
	const seen = new Map();
	const problems = [];

	for (const [module, text] of texts)
		for (const name of topNames(text)) {
			if (seen.has(name))
				problems.push(`'${name}' is in ${seen.get(name)} and in ${module}`);
			seen.set(name, module);
		}
	return problems;
}

// What a module imports, and from where; the others must export it, and stand before it.
function badImports(texts) {
	const problems = [];
	const before = new Map();

	for (const [module, text] of texts) {
		for (const [, names, from] of text.matchAll(/^import \{ (.*) \} from '\.\/(.*)';$/gm))
			for (const name of names.split(', '))
				if (!before.get(from)?.has(name))
					problems.push(`${module}: '${name}' is not exported by ${from}, or that stands behind it`);
		before.set(module, new Set(text.split('\n').filter((line) => line.startsWith('export ')).flatMap(topNames)));
	}
	return problems;
}

const modules = readFileSync(join(html, 'modules'), 'utf8').trim().split('\n');
const around = 'beside.mjs'; // the script of another page, around those of several machines
const textOf = (module) => [module, readFileSync(join(html, module), 'utf8')];
const texts = modules.map(textOf);

// the lint itself: what it must refuse
const header = '// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n//\n// A module.\n';
for (const [what, text] of [['no header', 'const a = 1;\n'], ['markup', `${header}a.innerHTML = b;\n`], ['a text that is run', `${header}eval('1');\n`],
	['an import of two lines', `${header}import {\n\ta } from './b.mjs';\n`], ['a default export', `${header}export default 1;\n`]])
	check(`${what} is refused`, problemsOf(text).length ? [] : ['it was not']);
check('a name that is there twice is refused', twice([['a', 'const x = 1;'], ['b', 'export function x() {}']]).length ? [] : ['it was not']);
check('an import of what is not there is refused', badImports([['a', 'export const x = 1;'], ['b', "import { y } from './a';"]]).length ? [] : ['it was not']);

check('each module is in the list', readdirSync(html).filter((name) => name.endsWith('.mjs') && name !== around && !modules.includes(name)).map((name) => `${name} is not`));
for (const [module, text] of [...texts, textOf(around)])
	check(`${module} is well-formed`, [...problemsOf(text), ...parses(text, 'mjs')]);
check('no name is there twice', twice(texts));
check('imports are of what is there, and stands before', badImports(texts));
check('together they parse', parses(texts.map(([, text]) => text.replace(/^import .*\n/gm, '').replace(/^export /gm, '')).join('\n'), 'js'));
console.log(`1..${n}`);
process.exitCode = failed ? 1 : 0;
