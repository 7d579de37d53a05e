import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gpuDevices, groupsToUse } from './gpu-devices.ts';
import type { Sandbox, SandboxedCommand } from './sandbox.ts';

const BIND_MOUNTS = fileURLToPath(new URL('./bind-mounts.sh', import.meta.url));

/*
 * The range of user ids that systemd uses for transient services. No account has such an id, and containers
 * with only 65536 users have them too.
 */
const FIRST = 61_184;

const LAST = 65_519;

/** The first 512 users are for programs that read one file and exit. */
const READERS = 512;

/** User for testing the sandbox. Also a placeholder for sandboxes without separate users. */
export const TRIAL_USER = FIRST;

/**
 * Runs programs as separate users, with ordinary file permissions. They cannot gain privileges, and may use
 * the GPUs. If they may not enter a parent of a needed folder, such as `/root`, the needed folder is mounted
 * there in their own view of the machine, without the other contents.
 */
export function userSandbox(sharedDir: string): Sandbox {
  return {
    kind: 'user',
    sharedDir,
    enclose: async (program) => [
      ...(await bindMounts(program)),
      ...(await becomeUser(program)),
      ...program.argv,
    ],
  };
}

async function becomeUser({ user }: SandboxedCommand): Promise<string[]> {
  const devices = await gpuDevices();
  const groups = groupsToUse(await Promise.all(devices.map((device) => stat(device))));
  return [
    'setpriv',
    `--reuid=${user}`,
    `--regid=${user}`,
    groups.length > 0 ? `--groups=${groups.join(',')}` : '--clear-groups',
    '--inh-caps=-all',
    '--no-new-privs',
    '--',
  ];
}

/**
 * Returns the command that mounts needed folders where the program can access them. Returns an empty list if
 * it can access all of them.
 */
async function bindMounts({ cwd, reads, writes, user }: SandboxedCommand): Promise<string[]> {
  const needed = [...new Set([...reads, ...writes, cwd])].sort();
  const pairs: string[][] = [];
  for (const place of needed) {
    const ancestor = await inaccessibleAncestor(place, user);
    if (ancestor !== null) pairs.push([ancestor, place]);
  }
  if (pairs.length === 0) return [];
  const unshare = ['unshare', '--mount', '--propagation', 'private'];
  return [...unshare, '/bin/sh', BIND_MOUNTS, cwd, ...pairs.flat(), '--'];
}

/** Returns the topmost parent folder that the user may not enter, or null. */
async function inaccessibleAncestor(place: string, user: number): Promise<string | null> {
  let above = path.dirname(place);
  let closed: string | null = null;
  for (;;) {
    if (!mayEnter(await stat(above), user)) closed = above;
    if (above === path.dirname(above)) return closed;
    above = path.dirname(above);
  }
}

/** True if the user, whose group has the same number, may enter the folder. */
function mayEnter({ mode, uid, gid }: Stats, user: number): boolean {
  if (uid === user) return (mode & 0o100) !== 0;
  return (mode & (gid === user ? 0o010 : 0o001)) !== 0;
}

/** Kills all processes of a user, including those that left their group. */
export async function killAllOf(user: number): Promise<void> {
  const child = spawn('/bin/sh', ['-c', 'kill -9 -1'], { uid: user, gid: user, cwd: '/', stdio: 'ignore' });
  await once(child, 'close');
}

/**
 * Reserves a user on this machine. Returns a function that frees the user, or null if another server has
 * reserved it. Uses an abstract socket, because the kernel frees its name when the process dies.
 */
export async function reserveUser(user: number): Promise<(() => void) | null> {
  const holder = createServer((client) => client.destroy())
    .listen(`\0bakehouse-user-${user}`)
    .unref();
  return once(holder, 'listening').then(
    () => () => void holder.close(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return null;
      throw error;
    },
  );
}

/** Returns the users for programs that read a file and exit, starting with a random one. */
export function readerUsers(): number[] {
  const count = READERS - 1;
  const first = randomInt(count);
  return Array.from({ length: count }, (_, step) => TRIAL_USER + 1 + ((first + step) % count));
}

/** Returns true for a user of such programs. */
export function isReaderUser(user: number): boolean {
  return user > TRIAL_USER && user < FIRST + READERS;
}

/** Returns true for a user that belongs to one workload. */
export function isWorkloadUser(user: number): boolean {
  return user >= FIRST + READERS && user <= LAST;
}

/** Returns a free user for a workload. `seed` makes two servers of a machine try different users first. */
export function freeWorkloadUser(taken: ReadonlySet<number>, seed: number): number {
  const count = LAST - FIRST - READERS + 1;
  for (let step = 0; step < count; step += 1) {
    const user = FIRST + READERS + ((seed + step) % count);
    if (!taken.has(user)) return user;
  }
  throw new Error('There are no more users for workloads: too many have left files');
}
