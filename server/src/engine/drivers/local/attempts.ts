import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AttemptId } from '../driver.ts';
import { CLOSED, isAlive, killGroup, type Owner, readOwner, signal } from './attempt-owner.ts';
import type { workloadUsers } from './workload-users.ts';

type Users = Pick<ReturnType<typeof workloadUsers>, 'killAll'>;

/** The attempts of workloads by their files, and how they are ended. */
export class Attempts {
  readonly #workloadsDir: string;
  readonly #users: Users;

  constructor(workloadsDir: string, users: Users) {
    this.#workloadsDir = workloadsDir;
    this.#users = users;
  }

  /** The folder of a workload. */
  folder(workloadId: string): string {
    return path.join(this.#workloadsDir, workloadId);
  }

  /** The file that says who runs an attempt. */
  file(workloadId: string, attempt: number): string {
    return path.join(this.folder(workloadId), 'attempts', String(attempt));
  }

  /** Takes the attempt's file, so that a launcher that comes late ends; or kills who has taken it. */
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

  /** Asks it to save its work and end. */
  async stop(workloadId: string, attempt: number): Promise<void> {
    const owner = await readOwner(this.file(workloadId, attempt));
    if (owner && owner !== 'unknown' && (await isAlive(owner))) signal(owner.pid, 'SIGTERM');
  }

  async kill(workloadId: string, attempt: number): Promise<void> {
    const owner = await readOwner(this.file(workloadId, attempt));
    if (owner) await this.killAll(workloadId, attempt, owner);
  }

  /** Where the leader is gone, nothing that it started may go on working without it. */
  async endSurvivors(workloadId: string, attempt: number): Promise<void> {
    const owner = await readOwner(this.file(workloadId, attempt));
    if (owner === null || (owner !== 'unknown' && (await isAlive(owner)))) return;
    await this.killAll(workloadId, attempt, owner);
  }

  /**
   * Ends what an attempt has started; of a user of its own also what has left the group. A later
   * attempt has the same user, and began when nothing of this one was left.
   */
  async killAll(workloadId: string, attempt: number, owner: Owner | 'unknown'): Promise<void> {
    if (owner !== 'unknown') await killGroup(owner);
    const numbers = await this.#numbers(workloadId);
    if (Math.max(...numbers) <= attempt) await this.#users.killAll(this.folder(workloadId));
  }

  /** Kills them all and deletes what the workload has. */
  async remove(workloadId: string): Promise<void> {
    for (const attempt of await this.#numbers(workloadId)) await this.kill(workloadId, attempt);
    // A link that it puts in the way while the folder is deleted would lead out of it.
    await this.#users.killAll(this.folder(workloadId));
    await rm(this.folder(workloadId), { recursive: true, force: true });
  }

  /** The workloads that have a folder. */
  async workloads(): Promise<string[]> {
    return readdir(this.#workloadsDir).catch(() => []);
  }

  /** Those whose leaders live. */
  async living(): Promise<AttemptId[]> {
    const living: AttemptId[] = [];
    for (const id of await this.workloads()) {
      for (const attempt of await this.#numbers(id)) {
        const owner = await readOwner(this.file(id, attempt));
        if (owner && owner !== 'unknown' && (await isAlive(owner))) living.push({ id, attempt });
      }
    }
    return living;
  }

  /** Those that somebody has taken. */
  async #numbers(workloadId: string): Promise<number[]> {
    const names = await readdir(path.join(this.folder(workloadId), 'attempts')).catch(() => []);
    return names.filter((name) => /^\d+$/.test(name)).map(Number);
  }
}
