import { execFile } from 'node:child_process';
import { open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { AttemptId } from '../driver.ts';
import type { workloadUsers } from './workload-users.ts';

const run = promisify(execFile);

/** Content of an attempt's file after the attempt was closed, so that it can no longer begin. */
const CLOSED = 'closed';

/** A launcher that claims an attempt writes its identity within this time. */
export const BIRTH_TIMEOUT_MS = 10_000;

/** Attempts of workloads, stored as files, and how to end them. */
export class Attempts {
  readonly #workloadsDir: string;
  readonly #users: Users;

  constructor(workloadsDir: string, users: Users) {
    this.#workloadsDir = workloadsDir;
    this.#users = users;
  }

  /** Returns the folder of a workload. */
  folder(workloadId: string): string {
    return path.join(this.#workloadsDir, workloadId);
  }

  /** Returns the file that identifies the process of an attempt. */
  file(workloadId: string, attempt: number): string {
    return path.join(this.folder(workloadId), 'attempts', String(attempt));
  }

  /**
   * Closes all earlier attempts. Every start calls this before it creates anything, and starts do not
   * overlap. So the attempts before the newest started one are already closed and can be skipped.
   */
  async closeBefore(workloadId: string, attempt: number): Promise<void> {
    const first = (await this.#newest(workloadId, attempt)) ?? 1;
    for (let earlier = first; earlier < attempt; earlier += 1) await this.close(workloadId, earlier);
  }

  /**
   * Creates the attempt's file first, so that a late launcher exits. If a launcher has already created it,
   * kills that launcher's processes.
   */
  async close(workloadId: string, attempt: number): Promise<void> {
    const file = this.file(workloadId, attempt);
    const taken = await writeFile(file, CLOSED, { flag: 'wx' }).then(
      () => false,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return true;
        throw error;
      },
    );
    if (taken) await this.kill(workloadId, attempt);
    await rm(`${file}.json`, { force: true });
  }

  /** Asks the attempt to save its work and exit. */
  async stop(workloadId: string, attempt: number): Promise<void> {
    const owner = await readOwner(this.file(workloadId, attempt));
    if (owner && owner !== 'unknown' && (await isAlive(owner))) signal(owner.pid, 'SIGTERM');
  }

  async kill(workloadId: string, attempt: number): Promise<void> {
    const owner = await readOwner(this.file(workloadId, attempt));
    if (owner) await this.killAll(workloadId, attempt, owner);
  }

  /** Kills the remaining processes of an attempt whose leader is gone. */
  async endSurvivors(workloadId: string, attempt: number): Promise<void> {
    const owner = await readOwner(this.file(workloadId, attempt));
    if (owner === null || (owner !== 'unknown' && (await isAlive(owner)))) return;
    await this.killAll(workloadId, attempt, owner);
  }

  /**
   * Kills an attempt's processes. If workloads have separate users, also kills processes that left the group:
   * later attempts have the same user, but none starts before this one has no processes left.
   */
  async killAll(workloadId: string, attempt: number, owner: Owner | 'unknown'): Promise<void> {
    if (owner !== 'unknown') await killGroup(owner);
    if ((await this.#newest(workloadId)) === attempt) await this.#users.killAll(this.folder(workloadId));
  }

  /** Kills the workload's processes and deletes its files. */
  async remove(workloadId: string): Promise<void> {
    const newest = await this.#newest(workloadId);
    if (newest !== null) await this.kill(workloadId, newest);
    // Otherwise a process could add a link during the deletion that leads out of the folder.
    await this.#users.killAll(this.folder(workloadId));
    await rm(this.folder(workloadId), { recursive: true, force: true });
  }

  /** Returns the workloads that have a folder. */
  async workloads(): Promise<string[]> {
    return readdir(this.#workloadsDir).catch(() => []);
  }

  /** Returns the attempts whose leaders run. */
  async listAlive(): Promise<AttemptId[]> {
    const alive: AttemptId[] = [];
    for (const id of await this.workloads()) {
      const attempt = await this.#newest(id);
      if (attempt === null) continue;
      const owner = await readOwner(this.file(id, attempt));
      if (owner && owner !== 'unknown' && (await isAlive(owner))) alive.push({ id, attempt });
    }
    return alive;
  }

  /** Returns the newest started attempt before `limit`, or null. Attempts before it have no processes. */
  async #newest(workloadId: string, limit = Number.POSITIVE_INFINITY): Promise<number | null> {
    const names = await readdir(path.join(this.folder(workloadId), 'attempts')).catch(() => []);
    const numbers = names.filter((name) => /^\d+$/.test(name)).map(Number);
    return numbers.reduce<number | null>(
      (newest, number) => (number < limit && number > (newest ?? 0) ? number : newest),
      null,
    );
  }
}

type Users = Pick<ReturnType<typeof workloadUsers>, 'killAll'>;

/** Leader of an attempt's process group. */
type Owner = { pid: number; birth: string };

/**
 * Returns the leader of an attempt; null if the attempt has not begun or is closed; 'unknown' if its launcher
 * ended before it wrote its identity, for example on a full disk or after a power failure.
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

/** Returns true if the process exists and its id was not reused by another process. */
export async function isAlive(owner: Owner): Promise<boolean> {
  return (await readStartTime(owner.pid)) === owner.birth;
}

/** Kills the leader and its whole group, unless the process id was reused. */
async function killGroup(owner: Owner): Promise<void> {
  if (!isProcess(owner.pid)) return;
  const birth = await readStartTime(owner.pid);
  if (birth !== null && birth !== owner.birth) return;
  // Another process may have the group id after a reboot.
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
async function isOfThisBoot(birth: string): Promise<boolean> {
  if (process.platform === 'linux') return birth.startsWith(`${await readBootId()} `);
  // ps has a resolution of one second; an unparsable time counts as this boot.
  return !(Date.parse(birth) < Date.now() - uptime() * 1000);
}

/** Returns true if a process group has members. As long as it has, the system does not reuse its id. */
function groupExists(groupId: number): boolean {
  try {
    process.kill(-groupId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
