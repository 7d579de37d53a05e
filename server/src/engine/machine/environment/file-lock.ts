import { randomUUID } from 'node:crypto';
import { open, rename, rm, stat, utimes } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const BEAT_MS = 2_000;
/** A holder that has not touched its file for so long is dead: it was killed, or its machine was. */
const STALE_MS = 30_000;

/**
 * Runs `work` while holding a lock that every process of this machine, and of others that share
 * the folder, respects: a file that exists only while it is held. `onWait` is called once if
 * somebody else holds it. Aborting `signal` ends the waiting with its reason.
 */
export async function withFileLock<T>(
  file: string,
  work: () => Promise<T>,
  { onWait, signal }: { onWait?: () => void; signal?: AbortSignal } = {},
): Promise<T> {
  for (let tries = 0; !(await create(file)); tries++) {
    if (tries === 0) onWait?.();
    if (await removeIfStale(file)) continue;
    await sleep(500, undefined, { signal });
  }
  const beat = setInterval(() => {
    const now = new Date();
    // A missed beat is made up by the next one.
    utimes(file, now, now).catch(() => undefined);
  }, BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(file, { force: true });
  }
}

async function create(file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx')).close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function removeIfStale(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  if (found === null) return true;
  if (Date.now() - found.mtimeMs < STALE_MS) return false;
  // Renaming lets exactly one of several waiters remove it.
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
  } catch {
    return true;
  }
  await rm(aside, { force: true });
  return true;
}
