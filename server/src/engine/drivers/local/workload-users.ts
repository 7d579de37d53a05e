import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Sandbox } from '../../../platform/sandbox/sandbox.ts';
import {
  freeWorkloadUser,
  isWorkloadUser,
  killAllOf,
  TRIAL_USER,
} from '../../../platform/sandbox/user-sandbox.ts';
import { withFileLock } from '../../host/environment/file-lock.ts';

const run = promisify(execFile);
/** Users claimed by the servers of this machine: a file per user contains the folder that the user owns. */
const CLAIMS_DIR = '/run/bakehouse/workload-users';

/**
 * Chooses a separate Unix user for each workload, if the sandbox supports that. The owner of a workload's
 * `work` folder is its user, so the choice survives restarts. Only that user may enter the workload's folder.
 */
export function workloadUsers(sandbox: Sandbox, workloadsDir: string, claimsDir = CLAIMS_DIR) {
  /** One choice at a time, so that two folders never get the same user. */
  let choosing: Promise<unknown> = Promise.resolve();

  async function own(folder: string): Promise<number> {
    const workDir = path.join(folder, 'work');
    if (sandbox.kind !== 'user') {
      await mkdir(workDir, { recursive: true, mode: 0o700 });
      return TRIAL_USER;
    }
    await mkdir(claimsDir, { recursive: true, mode: 0o700 });
    // Other servers of the machine choose from the same users.
    return withFileLock(path.join(claimsDir, 'lock'), async () => {
      const there = await ownerOf(workDir);
      const claimed = await readClaims(claimsDir, workDir);
      const isOwned = there !== null && isWorkloadUser(there) && !claimed.has(there);
      const taken = new Set([...claimed, ...(await findUsedUids())]);
      const user = isOwned ? there : freeWorkloadUser(taken, seedOf(workDir));
      await writeFile(path.join(claimsDir, String(user)), workDir);
      if (!isOwned) await chownFolder(user, folder);
      return user;
    });
  }

  async function findUsedUids(): Promise<Set<number>> {
    const names = await readdir(workloadsDir);
    const owners = await Promise.all(names.map((name) => ownerOf(path.join(workloadsDir, name, 'work'))));
    return new Set(owners.filter((user) => user !== null));
  }

  return {
    /** Creates the folder `work` within a workload's `folder`, and returns the user that owns it. */
    own: (folder: string): Promise<number> => {
      const chosen = choosing.then(() => own(folder));
      choosing = chosen.catch(() => undefined);
      return chosen;
    },
    /** Kills all processes of the workload's user. */
    killAll: async (folder: string): Promise<void> => {
      const user = await ownerOf(path.join(folder, 'work'));
      if (sandbox.kind === 'user' && user !== null && isWorkloadUser(user)) await killAllOf(user);
    },
  };
}

/** Makes the user the owner of the workload's own files. */
async function chownFolder(user: number, folder: string): Promise<void> {
  const workDir = path.join(folder, 'work');
  // Servers of versions without sandboxes stored links to shared inputs here.
  await rm(path.join(workDir, 'inputs'), { recursive: true, force: true });
  await mkdir(workDir, { recursive: true, mode: 0o700 });
  await chmod(workDir, 0o700);
  await run('chgrp', [String(user), folder, path.join(folder, 'attempts')]);
  await chmod(folder, 0o710);
  await chmod(path.join(folder, 'attempts'), 0o710);
  await run('chown', ['--recursive', '--no-dereference', `${user}:${user}`, workDir]);
}

/** Returns users of other folders; drops claims of deleted folders. */
async function readClaims(claimsDir: string, ownDir: string): Promise<Set<number>> {
  const claimed = new Set<number>();
  for (const name of await readdir(claimsDir)) {
    const user = Number(name);
    if (!isWorkloadUser(user)) continue;
    const claim = path.join(claimsDir, name);
    const dir = await readFile(claim, 'utf8');
    if (dir === ownDir) continue;
    if ((await ownerOf(dir)) === user) claimed.add(user);
    else await rm(claim, { force: true });
  }
  return claimed;
}

async function ownerOf(folder: string): Promise<number | null> {
  return stat(folder).then(
    ({ uid }) => uid,
    () => null,
  );
}

function seedOf(workDir: string): number {
  return createHash('sha256').update(workDir).digest().readUInt32BE(0);
}
