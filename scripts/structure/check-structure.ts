/**
 * Fails if the tree breaks a structure rule and there is no exception for it.
 *
 *    node scripts/structure/check-structure.ts PYTHON
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { capture } from '../child.ts';
import { root } from '../root.ts';
import { exceptions, isGenerated } from './exceptions.ts';
import { findBreaches, type TreeFile } from './find-breaches.ts';
import { judge } from './judge.ts';
import publicFiles from './public-files.json' with { type: 'json' };
import { type Measured, readSource } from './read-source.ts';

/** Extensions of files written by hand. The line count of others, such as lock files, means nothing. */
const written = /\.(ts|tsx|py|sql|sh|css|html|md)$/;

/** Returns the files of the working tree, without ignored and generated ones. */
async function readTree(python: string): Promise<TreeFile[]> {
  const { output } = await capture('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z']);
  const paths = output
    .split('\0')
    .filter((file) => file !== '' && !isGenerated(file) && existsSync(inRoot(file)));
  const pythonFunctions = await measurePython(python, paths);
  return paths.map((file): TreeFile => {
    if (!written.test(file)) return { path: file, lines: null, functions: [], source: null };
    const text = readFileSync(inRoot(file), 'utf8');
    const source = /\.tsx?$/.test(file) ? readSource(file, text) : null;
    const functions = source?.functions ?? pythonFunctions[file] ?? [];
    return { path: file, lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0), functions, source };
  });
}

async function measurePython(python: string, paths: string[]): Promise<Record<string, Measured[]>> {
  const program = path.join(import.meta.dirname, 'measure_functions.py');
  const { code, output } = await capture(python, [program, ...paths.filter((file) => file.endsWith('.py'))]);
  if (code !== 0) throw new Error(output);
  return JSON.parse(output) as Record<string, Measured[]>;
}

function inRoot(file: string): string {
  return path.join(root, file);
}

const complaints = judge(findBreaches(await readTree(process.argv[2] ?? 'python3'), publicFiles), exceptions);
for (const complaint of complaints) console.log(complaint);
if (complaints.length > 0) process.exitCode = 1;
