import path from 'node:path';
import { capture } from '../child.ts';

/** Returns files that differ from `main`, or are not committed yet; none without git. */
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

/** Returns true for a test of a changed file: itself, or one in its folder. */
export function isTestOf(test: string, changed: readonly string[]): boolean {
  return changed.some((file) => path.dirname(file) === path.dirname(test) && /\.(tsx?|py)$/.test(file));
}
