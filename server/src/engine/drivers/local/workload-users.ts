import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { killAllOf } from '../../../platform/walls/user-wall.ts';
import type { Wall } from '../../../platform/walls/wall.ts';
import { freeWorkloadUser, isWorkloadUser, TRIAL_USER } from '../../../platform/walls/workload-users.ts';

const run = promisify(execFile);

/**
 * The users of a machine's workloads, where the wall is one between users. Who a workload is says the
 * owner of its folder `work`, so that it stays the same over restarts of workload and server. Nobody
 * else may enter the folder around it.
 */
export function workloadUsers(wall: Wall, workloadsDir: string) {
  /** One choice at a time: two must not choose the same. */
  let choosing: Promise<unknown> = Promise.resolve();

  async function own(folder: string): Promise<number> {
    const workDir = path.join(folder, 'work');
    const there = await ownerOf(workDir);
    if (wall.kind !== 'user') {
      await mkdir(workDir, { recursive: true, mode: 0o700 });
      return TRIAL_USER;
    }
    if (there !== null && isWorkloadUser(there)) return there;
    const user = freeWorkloadUser(await takenUsers(), seedOf(workDir));
    // From before there were walls: it held links to files that the workloads of the machine share.
    await rm(path.join(workDir, 'inputs'), { recursive: true, force: true });
    await mkdir(workDir, { recursive: true, mode: 0o700 });
    await chmod(workDir, 0o700);
    await run('chgrp', [String(user), folder, path.join(folder, 'attempts')]);
    await chmod(folder, 0o710);
    await chmod(path.join(folder, 'attempts'), 0o710);
    await run('chown', ['--recursive', '--no-dereference', `${user}:${user}`, workDir]);
    return user;
  }

  async function takenUsers(): Promise<Set<number>> {
    const names = await readdir(workloadsDir);
    const owners = await Promise.all(names.map((name) => ownerOf(path.join(workloadsDir, name, 'work'))));
    return new Set(owners.filter((user) => user !== null));
  }

  return {
    /** Makes the folder of a workload's own files within its `folder`, and answers with the user who owns it. */
    own: (folder: string): Promise<number> => {
      const chosen = choosing.then(() => own(folder));
      choosing = chosen.catch(() => undefined);
      return chosen;
    },
    /** Ends all processes of the workload's user. */
    killAll: async (folder: string): Promise<void> => {
      const user = await ownerOf(path.join(folder, 'work'));
      if (wall.kind === 'user' && user !== null && isWorkloadUser(user)) await killAllOf(user);
    },
  };
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
