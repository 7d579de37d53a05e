import path from 'node:path';
import { styleText } from 'node:util';
import { capture } from './child.ts';
import type { Command } from './command.ts';
import { preparePython } from './prepare/python-environment.ts';
import { root } from './root.ts';

type Check = { name: string; command: string[] | ((python: string) => string[]); fix?: string };

/** Most checks use one core. */
const AT_ONCE = 2;

const bin = (name: string) => path.join(root, 'node_modules', '.bin', name);
const script = (...words: string[]) => [process.execPath, ...words];
const ruff = ['runtime', 'scripts', 'models'];

/** The slowest first, because a slow check at the end would run alone. */
const checks: Check[] = [
  {
    name: 'Python types',
    command: (python) => [python, '-m', 'pyright', '-p', 'runtime', '--pythonpath', python],
  },
  { name: 'types', command: [bin('tsc'), '--project', '.'] },
  { name: 'lint and import directions', command: [bin('oxlint'), '--type-aware'] },
  { name: 'types of the web app', command: [bin('tsc'), '--project', 'web'] },
  {
    name: 'generated files',
    command: script('scripts/bakehouse.ts', 'gen', '--check'),
    fix: './bakehouse gen',
  },
  { name: 'dead code', command: [bin('knip'), '--no-progress'] },
  { name: 'structure', command: (python) => script('scripts/structure/check-structure.ts', python) },
  { name: 'format', command: [bin('biome'), 'check', '--colors=off'], fix: 'npm run format' },
  { name: 'plain English', command: script('scripts/plain-english/check-plain-english.ts') },
  { name: 'vocabulary', command: script('scripts/vocabulary/check-vocabulary.ts') },
  { name: 'specification', command: script('scripts/specification/check-specification.ts') },
  { name: 'Python lint', command: (python) => [python, '-m', 'ruff', 'check', '--quiet', ...ruff] },
  {
    name: 'Python format',
    command: (python) => [python, '-m', 'ruff', 'format', '--check', ...ruff],
    fix: 'python -m ruff format runtime scripts models',
  },
];

/**
 * Runs types, lint with the import directions, format, dead code, structure, specification, vocabulary, plain
 * English, generated files, and the same for Python. While Python is being prepared, runs the checks that do
 * not need it.
 */
export const check: Command = async ({ words }) => {
  const chosen = checks.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  const needsPython = ({ command }: Check) => typeof command === 'function';
  let python: string | null = null;
  const preparing = chosen.some(needsPython) ? preparePython('tests') : Promise.resolve('');
  const prepared = preparing.then((found) => {
    python = found;
  });

  let failed = 0;
  const waiting = [...chosen];
  const runNext = async (): Promise<void> => {
    if (python === null && waiting.every(needsPython)) await prepared;
    const [next] = waiting.splice(
      waiting.findIndex((one) => python !== null || !needsPython(one)),
      1,
    );
    if (!next) return;
    if (!(await runCheck(next, python ?? ''))) failed += 1;
    await runNext();
  };
  await Promise.all([prepared, ...Array.from({ length: AT_ONCE }, runNext)]);
  console.log(failed === 0 ? 'All checks passed.' : `${failed} of ${chosen.length} checks failed.`);
  return failed === 0 ? 0 : 1;
};

/** Runs one check and prints its verdict. Returns true if it passed. */
async function runCheck({ name, command, fix }: Check, python: string): Promise<boolean> {
  const start = performance.now();
  const [program = '', ...args] = typeof command === 'function' ? command(python) : command;
  const { code, output } = await capture(program, args);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const verdict = code === 0 ? styleText('green', 'ok  ') : styleText('red', 'FAIL');
  console.log(`${verdict} ${name} (${seconds} s)`);
  if (code === 0) return true;
  console.log(output.trimEnd());
  if (fix) console.log(`Run '${fix}' to fix it.`);
  return false;
}
