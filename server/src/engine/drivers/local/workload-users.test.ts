import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { userSandbox } from '../../../platform/sandbox/user-sandbox.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { workloadUsers } from './workload-users.ts';

/** Number of users for workloads. */
const USERS = 65_519 - 61_184 - 512 + 1;
const first = (folder: string) =>
  createHash('sha256').update(path.join(folder, 'work')).digest().readUInt32BE(0) % USERS;

/** Only root may change the owner of files. */
describe.skipIf(process.getuid?.() !== 0)('users of workloads, chosen by two servers of one machine', () => {
  let folders: [string, string];
  let claimsDir: string;
  let own: [() => Promise<number>, () => Promise<number>];

  beforeEach(async () => {
    const [here, there] = [await temporaryFolder(), await temporaryFolder()];
    claimsDir = await temporaryFolder();
    const one = path.join(here, 'run');
    // Choose folders for which both servers try the same user first.
    let n = 0;
    while (first(path.join(there, `run-${n}`)) !== first(one)) n += 1;
    folders = [one, path.join(there, `run-${n}`)];
    for (const folder of folders) await mkdir(path.join(folder, 'attempts'), { recursive: true });
    const users = [here, there].map((dir) => workloadUsers(userSandbox(dir), dir, claimsDir));
    own = [
      () => users[0]?.own(folders[0]) as Promise<number>,
      () => users[1]?.own(folders[1]) as Promise<number>,
    ];
  });

  test('differ, and do not change', async () => {
    const [one, other] = await Promise.all([own[0](), own[1]()]);
    expect(one).not.toBe(other);
    expect(await Promise.all([own[0](), own[1]()])).toEqual([one, other]);
  });

  test('differ after a reboot, which removes the claims', async () => {
    const one = await own[0]();
    await rm(claimsDir, { recursive: true });
    const other = await own[1]();
    expect(other).toBe(one);
    // The first server claims again and must choose another user: the second has claimed this one.
    expect(await own[0]()).not.toBe(other);
  });

  test('are available again once their folder is gone', async () => {
    const one = await own[0]();
    await rm(folders[0], { recursive: true });
    expect(await own[1]()).toBe(one);
    expect((await readdir(claimsDir)).filter((name) => name !== 'lock')).toEqual([String(one)]);
  });
});
