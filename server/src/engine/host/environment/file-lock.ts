import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const BEAT_MS = 2_000;
/** If the lock file was not touched for this long, its holder is dead. */
const STALE_MS = 30_000;
const LOOK_MS = 500;
/** Short, because the guard is held only briefly. */
const GUARD_LOOK_MS = 10;

/**
 * Runs `work` while holding a lock file. The lock applies to all processes that share the folder, also on
 * other machines. Calls `onWait` once if another process holds the lock. Aborting `signal` ends the wait with
 * its reason.
 */
export async function withFileLock<T>(
  file: string,
  work: () => Promise<T>,
  { onWait, signal }: { onWait?: () => void; signal?: AbortSignal } = {},
): Promise<T> {
  const token = randomUUID();
  const isOwn = async () => (await readFile(file, 'utf8').catch(() => null)) === token;
  for (let tries = 0; !(await create(file, token)); tries++) {
    if (tries === 0) onWait?.();
    if ((await isStale(file)) && (await removeIf(file, () => isStale(file)))) continue;
    await sleep(LOOK_MS, undefined, { signal });
  }
  const beat = setInterval(() => {
    const now = new Date();
    // Ignore a failed touch: the next one follows soon.
    utimes(file, now, now).catch(() => undefined);
  }, BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    // If this process was suspended for long, another process may hold the lock by now.
    if (await isOwn()) await removeIf(file, isOwn);
  }
}

async function create(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isStale(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs >= STALE_MS;
}

/**
 * Removes the file if `isMeant` still returns true, and returns whether it was removed. A guard makes the
 * check and the removal atomic. Otherwise two processes could see the file of a dead holder, and the slower
 * one could remove the file that the faster one has created.
 */
async function removeIf(file: string, isMeant: () => Promise<boolean>): Promise<boolean> {
  const guard = `${file}.guard`;
  while (!(await create(guard, ''))) {
    if (await isStale(guard)) await rm(guard, { force: true });
    await sleep(GUARD_LOOK_MS);
  }
  try {
    if (!(await isMeant())) return false;
    await rm(file, { force: true });
    return true;
  } finally {
    await rm(guard, { force: true });
  }
}
