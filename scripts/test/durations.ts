import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readConfig } from '../../server/src/config.ts';

/** Milliseconds of each stage and test file in the last run, by the stage's title or the file's path. */
export type Durations = Record<string, number>;

const file = path.join(readConfig(process.env).cacheDir, 'test-durations.json');

/** Returns the durations of earlier runs; empty before the first one. */
export async function readDurations(): Promise<Durations> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Durations;
  } catch {
    return {};
  }
}

/** Adds durations to the saved ones, and replaces older values. */
export async function saveDurations(durations: Durations): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify({ ...(await readDurations()), ...durations }, null, 1));
}

/** Returns an estimate such as `about 3 minutes`. */
export function inMinutes(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  return minutes === 1 ? 'about a minute' : `about ${minutes} minutes`;
}
