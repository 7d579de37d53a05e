import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readConfig } from '../../server/src/config.ts';

/** Milliseconds that each stage and each test file took when it ran last, by the stage's title and the file's path. */
export type Durations = Record<string, number>;

const file = path.join(readConfig(process.env).cacheDir, 'test-durations.json');

/** What is known of earlier runs; nothing before the first. */
export async function readDurations(): Promise<Durations> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Durations;
  } catch {
    return {};
  }
}

/** Adds to what is known, for the next run. */
export async function keepDurations(durations: Durations): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify({ ...(await readDurations()), ...durations }, null, 1));
}

/** `about 3 minutes`, for what nobody can know exactly. */
export function inMinutes(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  return minutes === 1 ? 'about a minute' : `about ${minutes} minutes`;
}
