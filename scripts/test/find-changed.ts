import path from 'node:path';
import { capture } from '../child.ts';

/** Returns the files that differ from `main` or are not committed. Returns no files if git is missing. */
export async function findChanged(): Promise<string[]> {
  const lists = [
    ['diff', '--name-only', '--no-renames', 'main...HEAD'],
    ['diff', '--name-only', '--no-renames', 'HEAD'],
    ['ls-files', '--others', '--exclude-standard'],
  ].map(async (args) => {
    const { code, output } = await capture('git', args);
    return code === 0 ? output.trim().split('\n') : [];
  });
  return [...new Set((await Promise.all(lists)).flat())];
}

/** Returns true if a test file has changed, or is in the same folder as a changed file. */
export function isTestOf(test: string, changed: readonly string[]): boolean {
  return changed.some((file) => path.dirname(file) === path.dirname(test) && /\.(tsx?|py)$/.test(file));
}
