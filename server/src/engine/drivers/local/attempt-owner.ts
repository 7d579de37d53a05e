import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupExists, isOfThisBoot, readStartTime } from './process-identity.ts';

/** Content of an attempt's file once the attempt must not begin any more. */
export const CLOSED = 'closed';
/** A launcher that claims an attempt writes its identity within this time. */
export const BIRTH_TIMEOUT_MS = 10_000;

/** Leader of an attempt's process group. */
export type Owner = { pid: number; birth: string };

/**
 * Returns the leader of an attempt; null if it has not begun or is closed. 'unknown' if its launcher ended
 * before it wrote its identity, for example on a full disk or after a power failure.
 */
export async function readOwner(file: string): Promise<Owner | 'unknown' | null> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => null);
    if (text === null || text === CLOSED) return null;
    // The launcher has created the file but not yet written its one line.
    if (!text.endsWith('\n') && (await isYoung(file))) {
      await sleep(5);
      continue;
    }
    const [pid = '', ...birth] = text.trim().split(' ');
    const owner = { pid: Number(pid), birth: birth.join(' ') };
    return isProcess(owner.pid) && owner.birth !== '' ? owner : 'unknown';
  }
}

/** True if the number can be a workload's: group 0 would signal our own group, -1 all processes. */
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

/** Returns true if the process still exists and is the same process. */
export async function isAlive(owner: Owner): Promise<boolean> {
  return (await readStartTime(owner.pid)) === owner.birth;
}

/** Kills the leader and its whole group, unless the process id was reused. */
export async function killGroup(owner: Owner): Promise<void> {
  if (!isProcess(owner.pid)) return;
  const birth = await readStartTime(owner.pid);
  if (birth !== null && birth !== owner.birth) return;
  // After the leader is gone, its group id is only reliable until the next reboot.
  if (!(await isOfThisBoot(owner.birth))) return;
  if (groupExists(owner.pid)) signal(-owner.pid, 'SIGKILL');
}

/** Sends a signal; ignores processes that no longer exist. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
