import { existsSync } from 'node:fs';
import { gpuDevices } from './gpu-devices.ts';
import type { Sandbox, SandboxedCommand } from './sandbox.ts';

/** The environment variables that libraries need; others may hold passwords. */
const SETTINGS = [
  'ld.so.cache ld.so.conf ld.so.conf.d alternatives static machine-id',
  'passwd group nsswitch.conf hosts host.conf resolv.conf gai.conf services protocols',
  'ssl/certs ssl/openssl.cnf ssl/cert.pem ca-certificates pki/tls pki/ca-trust crypto-policies',
  'localtime timezone locale.alias mime.types fonts OpenCL vulkan glvnd',
]
  .flatMap((line) => line.split(' '))
  .map((name) => `/etc/${name}`);

/** What programs of the system need; the homes and data of people are not in it. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt', '/sys', '/nix'],
  ...SETTINGS,
];

/**
 * Programs run in namespaces of their own, where nothing lies but the system, what they need to read,
 * and their own folders. They share the network, by which they reach the server.
 * @param hidden  the server's own folders: not to be seen, even below one that a program reads
 */
export function bubblewrapSandbox(sharedDir: string, hidden: string[]): Sandbox {
  return {
    kind: 'bubblewrap',
    sharedDir,
    enclose: async ({ argv, cwd, reads, writes }: SandboxedCommand) => [
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
      ...inside(reads, hidden),
      ...writes.flatMap((place) => ['--bind', place, place]),
      // What is not mounted is a folder in memory.
      ...['--remount-ro', '/'],
      ...['--chdir', cwd, '--'],
      ...argv,
    ],
  };
}

/** What is read appears, and what is hidden does not; of two that lie in each other the inner one counts. */
function inside(reads: string[], hidden: string[]): string[] {
  const covered = hidden.filter((place) => isIn(place, [...reads, ...SYSTEM]) && existsSync(place));
  return [
    ...covered.map((place) => ({ place, words: ['--tmpfs', place] })),
    ...reads.map((place) => ({ place, words: ['--ro-bind', place, place] })),
  ]
    .sort((one, other) => one.place.length - other.place.length)
    .flatMap(({ words }) => words);
}

function isIn(place: string, folders: string[]): boolean {
  return folders.some((folder) => place === folder || place.startsWith(`${folder}/`));
}
