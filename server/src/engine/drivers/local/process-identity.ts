import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * When the process with this id was started, in the words that launch.sh writes; null when there is none, or only a
 * zombie. It tells a process from a later one with the same id, even after a reboot.
 */
export async function readStartTime(pid: number): Promise<string | null> {
  return process.platform === 'linux' ? readLinuxStartTime(pid) : readPsStartTime(pid);
}

async function readLinuxStartTime(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The second field is the program's name in parentheses and may hold anything.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return null;
  return `${await readBootId()} ${rest[18]}`;
}

async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
}

async function readPsStartTime(pid: number): Promise<string | null> {
  const answer = await run('ps', ['-o', 'state=', '-o', 'lstart=', '-p', String(pid)]).catch(() => null);
  const words = answer?.stdout.trim().split(/\s+/) ?? [];
  const [state, ...birth] = words;
  return !state || state.startsWith('Z') ? null : birth.join(' ');
}

/** Whether a process with this start time was started since the machine booted. */
export async function isOfThisBoot(birth: string): Promise<boolean> {
  if (process.platform === 'linux') return birth.startsWith(`${await readBootId()} `);
  // ps names the day and the second; one that cannot be read says nothing.
  return !(Date.parse(birth) < Date.now() - uptime() * 1000);
}

/** Whether a process group has members. A group keeps its number from being given to another process. */
export function groupExists(groupId: number): boolean {
  try {
    process.kill(-groupId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
