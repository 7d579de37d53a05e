import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AttemptId } from '../driver.ts';
import { CLOSED, isAlive, killGroup, type Owner, readOwner, signal } from './attempt-owner.ts';
import type { workloadUsers } from './workload-users.ts';

type Users = Pick<ReturnType<typeof workloadUsers>, 'killAll'>;

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
   * Closes all attempts before this one. Every start does so before it creates anything, one start at a time,
   * so attempts before the newest started attempt are closed already and skipped.
   */
  async closeBefore(workloadId: string, attempt: number): Promise<void> {
    const first = (await this.#newest(workloadId, attempt)) ?? 1;
    for (let earlier = first; earlier < attempt; earlier += 1) await this.close(workloadId, earlier);
  }

  /** Claims the attempt's file, so that a late launcher exits; or kills the process that has claimed it. */
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

  /** Asks it to save its work and exit. */
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
   * Kills an attempt's processes; with a separate user, also processes that left the group. A later attempt
   * has the same user, but starts only after this one has no processes left.
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

  /** Returns the newest started attempt before `limit`, or null. Earlier attempts do not run. */
  async #newest(workloadId: string, limit = Number.POSITIVE_INFINITY): Promise<number | null> {
    const names = await readdir(path.join(this.folder(workloadId), 'attempts')).catch(() => []);
    const numbers = names.filter((name) => /^\d+$/.test(name)).map(Number);
    return numbers.reduce<number | null>(
      (newest, number) => (number < limit && number > (newest ?? 0) ? number : newest),
      null,
    );
  }
}
