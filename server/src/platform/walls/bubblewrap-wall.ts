import { gpuDevices } from './gpu-devices.ts';
import type { Enclosed, Wall } from './wall.ts';

/** What programs of the system need; the homes and data of people are not in it. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/opt', '/sys', '/nix'];

/**
 * Programs run in namespaces of their own, where nothing lies but the system, what they need to read,
 * and their own folders. They share the network, by which they reach the server.
 * @param hidden  the server's own folders: not to be seen, even below one that a program reads
 */
export function bubblewrapWall(lendingDir: string, hidden: string[]): Wall {
  return {
    kind: 'bubblewrap',
    lendingDir,
    enclose: async ({ argv, cwd, reads, writes }: Enclosed) => [
      'bwrap',
      '--unshare-user-try',
      '--unshare-ipc',
      '--unshare-pid',
      '--unshare-uts',
      '--unshare-cgroup-try',
      '--die-with-parent',
      '--new-session',
      // It is told to stop by signals, which the first process of a namespace gets from outside.
      '--as-pid-1',
      ...SYSTEM.flatMap((place) => ['--ro-bind-try', place, place]),
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
      ...(await gpuDevices()).flatMap((device) => ['--dev-bind-try', device, device]),
      ...reads.filter((place) => !isIn(place, hidden)).flatMap((place) => ['--ro-bind', place, place]),
      ...hidden.filter((place) => isIn(place, [...reads, ...SYSTEM])).flatMap((place) => ['--tmpfs', place]),
      ...reads.filter((place) => isIn(place, hidden)).flatMap((place) => ['--ro-bind', place, place]),
      ...writes.flatMap((place) => ['--bind', place, place]),
      // What is not mounted is a folder in memory.
      ...['--remount-ro', '/'],
      ...['--chdir', cwd, '--'],
      ...argv,
    ],
  };
}

function isIn(place: string, folders: string[]): boolean {
  return folders.some((folder) => place === folder || place.startsWith(`${folder}/`));
}
