import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupExists, readStartTime } from './process-identity.ts';

/** What stands in the file of an attempt that nobody may begin any more. */
export const CLOSED = 'closed';
/** Whoever takes an attempt has written who it is within this time. */
export const BIRTH_TIMEOUT_MS = 10_000;

/** The leader of an attempt's processes. */
export type Owner = { pid: number; birth: string };

/** Who runs an attempt; null when nobody has begun it, or it is closed. */
export async function readOwner(file: string): Promise<Owner | null> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text === null || text === CLOSED) return null;
    // Between the creation of the file and its one line.
    if (!text.endsWith('\n') && (await isYoung(file))) {
      await sleep(5);
      continue;
    }
    const [pid = '', ...birth] = text.trim().split(' ');
    return { pid: Number(pid), birth: birth.join(' ') };
  }
}

async function isYoung(file: string): Promise<boolean> {
  const handle = await open(file, 'r').catch(() => null);
  if (!handle) return false;
  const { mtimeMs } = await handle.stat();
  await handle.close();
  return Date.now() - mtimeMs < BIRTH_TIMEOUT_MS;
}

/** Whether the process is there, and is still the same one. */
export async function isAlive(owner: Owner): Promise<boolean> {
  return (await readStartTime(owner.pid)) === owner.birth;
}

/** Kills the leader and all of its group, unless the process id has gone to somebody else since. */
export async function killGroup(owner: Owner): Promise<void> {
  const birth = await readStartTime(owner.pid);
  if (birth !== null && birth !== owner.birth) return;
  if (groupExists(owner.pid)) signal(-owner.pid, 'SIGKILL');
}

/** Sends a signal, also to one that has gone. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
