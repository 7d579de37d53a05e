import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupExists, isOfThisBoot, readStartTime } from './process-identity.ts';

/** The content of the file of an attempt that may no longer begin. */
export const CLOSED = 'closed';
/** A launcher that takes an attempt writes its identity within this time. */
export const BIRTH_TIMEOUT_MS = 10_000;

/** The leader of an attempt's processes. */
export type Owner = { pid: number; birth: string };

/**
 * The leader of an attempt; null when it has not begun or is closed. 'unknown': its launcher ended before it wrote
 * its identity, as on a full disk or at a power failure.
 */
export async function readOwner(file: string): Promise<Owner | 'unknown' | null> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text === null || text === CLOSED) return null;
    // Between the creation of the file and its one line.
    if (!text.endsWith('\n') && (await isYoung(file))) {
      await sleep(5);
      continue;
    }
    const [pid = '', ...birth] = text.trim().split(' ');
    const owner = { pid: Number(pid), birth: birth.join(' ') };
    return isProcess(owner.pid) && owner.birth !== '' ? owner : 'unknown';
  }
}

/** Whether the number can be a workload's: a signal to the group 0 goes to one's own, and one to -1 to all processes. */
function isProcess(pid: number): boolean {
  return Number.isInteger(pid) && pid > 1;
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

/** Kills the leader and its whole group, unless another process has its number by now. */
export async function killGroup(owner: Owner): Promise<void> {
  if (!isProcess(owner.pid)) return;
  const birth = await readStartTime(owner.pid);
  if (birth !== null && birth !== owner.birth) return;
  // Of a leader that is gone the group's number is only its own until the machine starts again.
  if (!(await isOfThisBoot(owner.birth))) return;
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
