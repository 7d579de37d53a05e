import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gpuDevices, groupsToUse } from './gpu-devices.ts';
import type { Sandbox, SandboxedCommand } from './sandbox.ts';

const BIND_MOUNTS = fileURLToPath(new URL('./bind-mounts.sh', import.meta.url));

/**
 * Programs run as users of their own, to whom the machine's ordinary rights apply. They get no more
 * rights by any other program, and may use the GPUs. Where a folder above what they need is closed to
 * them, as `/root` is, they get a view of the machine in which that folder holds nothing else.
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

/** The command that mounts what is needed where the user may enter; none where nothing is inaccessible. */
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

/** The topmost folder above a place that the user may not enter; null where there is none. */
async function inaccessibleAncestor(place: string, user: number): Promise<string | null> {
  let above = path.dirname(place);
  let closed: string | null = null;
  for (;;) {
    if (!mayEnter(await stat(above), user)) closed = above;
    if (above === path.dirname(above)) return closed;
    above = path.dirname(above);
  }
}

/** Whether a user with a group of the same number may enter. */
function mayEnter({ mode, uid, gid }: Stats, user: number): boolean {
  if (uid === user) return (mode & 0o100) !== 0;
  return (mode & (gid === user ? 0o010 : 0o001)) !== 0;
}

/** Ends all processes of a user, also those that have left their group. */
export async function killAllOf(user: number): Promise<void> {
  const child = spawn('/bin/sh', ['-c', 'kill -9 -1'], { uid: user, gid: user, cwd: '/', stdio: 'ignore' });
  await once(child, 'close');
}
