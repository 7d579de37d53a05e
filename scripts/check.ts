import path from 'node:path';
import { styleText } from 'node:util';
import { capture } from './child.ts';
import type { Command } from './command.ts';
import { preparePython } from './prepare/python-environment.ts';
import { root } from './root.ts';

type Check = { name: string; command: string; args: string[]; fix?: string };

/** Most checks use one core. */
const AT_ONCE = 2;

/**
 * Runs types, lint with the import directions, format, dead code, structure, specification, vocabulary, plain
 * English, generated files, and the same for Python.
 */
export const check: Command = async ({ words }) => {
  const python = await preparePython('tests');
  const bin = (name: string) => path.join(root, 'node_modules', '.bin', name);
  const checks: Check[] = [
    { name: 'types', command: bin('tsc'), args: ['--project', '.'] },
    { name: 'types of the web app', command: bin('tsc'), args: ['--project', 'web'] },
    { name: 'lint and import directions', command: bin('oxlint'), args: ['--type-aware'] },
    {
      name: 'format',
      command: bin('biome'),
      args: ['check', '--colors=off'],
      fix: "Run 'npm run format' to fix it.",
    },
    { name: 'dead code', command: bin('knip'), args: ['--no-progress'] },
    { name: 'structure', command: process.execPath, args: ['scripts/structure/check-structure.ts', python] },
    {
      name: 'specification',
      command: process.execPath,
      args: ['scripts/specification/check-specification.ts'],
    },
    {
      name: 'vocabulary',
      command: process.execPath,
      args: ['scripts/vocabulary/check-vocabulary.ts'],
    },
    {
      name: 'plain English',
      command: process.execPath,
      args: ['scripts/plain-english/check-plain-english.ts'],
    },
    {
      name: 'generated files',
      command: process.execPath,
      args: ['scripts/bakehouse.ts', 'gen', '--check'],
      fix: "Run './bakehouse gen' to update them.",
    },
    {
      name: 'Python lint',
      command: python,
      args: ['-m', 'ruff', 'check', '--quiet', 'runtime', 'scripts', 'models'],
    },
    {
      name: 'Python format',
      command: python,
      args: ['-m', 'ruff', 'format', '--check', 'runtime', 'scripts', 'models'],
      fix: `Run '${python} -m ruff format runtime scripts models' to fix it.`,
    },
    {
      name: 'Python types',
      command: python,
      args: ['-m', 'pyright', '--project', 'runtime', '--pythonpath', python],
    },
  ];
  const chosen = checks.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));

  let failed = 0;
  const waiting = [...chosen];
  const runNext = async (): Promise<void> => {
    const next = waiting.shift();
    if (!next) return;
    if (!(await runCheck(next))) failed += 1;
    await runNext();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runNext));
  console.log(failed === 0 ? 'All checks passed.' : `${failed} of ${chosen.length} checks failed.`);
  return failed === 0 ? 0 : 1;
};

/** Runs one check and prints its verdict. Returns true if it passed. */
async function runCheck({ name, command, args, fix }: Check): Promise<boolean> {
  const start = performance.now();
  const { code, output } = await capture(command, args);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const verdict = code === 0 ? styleText('green', 'ok  ') : styleText('red', 'FAIL');
  console.log(`${verdict} ${name} (${seconds} s)`);
  if (code === 0) return true;
  console.log(output.trimEnd());
  if (fix) console.log(fix);
  return false;
}
