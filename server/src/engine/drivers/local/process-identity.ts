import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Returns the start time of a process in launch.sh's format; null if it does not exist or is a zombie.
 * Distinguishes a process from a later one with the same id, even after a reboot.
 */
export async function readStartTime(pid: number): Promise<string | null> {
  return process.platform === 'linux' ? readLinuxStartTime(pid) : readPsStartTime(pid);
}

async function readLinuxStartTime(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // The second field is the program's name in parentheses and may contain anything.
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

/** Returns true if a process with this start time was started since the last boot. */
export async function isOfThisBoot(birth: string): Promise<boolean> {
  if (process.platform === 'linux') return birth.startsWith(`${await readBootId()} `);
  // ps has a resolution of one second; an unparsable time counts as this boot.
  return !(Date.parse(birth) < Date.now() - uptime() * 1000);
}

/** Returns true if a process group has members. While it has, its id is not reused. */
export function groupExists(groupId: number): boolean {
  try {
    process.kill(-groupId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
