import { existsSync } from 'node:fs';
import { gpuDevices } from './gpu-devices.ts';
import type { Sandbox, SandboxedCommand } from './sandbox.ts';

/** Settings files in /etc that libraries need. Others may contain passwords. */
const SETTINGS = [
  'ld.so.cache ld.so.conf ld.so.conf.d alternatives static machine-id',
  'passwd group nsswitch.conf hosts host.conf resolv.conf gai.conf services protocols',
  'ssl/certs ssl/openssl.cnf ssl/cert.pem ca-certificates pki/tls pki/ca-trust crypto-policies',
  'localtime timezone locale.alias mime.types fonts OpenCL vulkan glvnd',
]
  .flatMap((line) => line.split(' '))
  .map((name) => `/etc/${name}`);

/** System folders that programs need; excludes homes and data. */
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt', '/sys', '/nix'],
  ...SETTINGS,
];

/**
 * Runs programs in their own namespaces, where they only see system folders, the files that they need to
 * read, and their own folders. They share the network, so that they reach the server.
 * @param hidden The server's own folders, which are hidden even inside a readable folder.
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
      // The program must be the first process of its namespace, because that process gets the stop signals.
      '--as-pid-1',
      ...SYSTEM.flatMap((place) => ['--ro-bind-try', place, place]),
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
      ...(await gpuDevices()).flatMap((device) => ['--dev-bind-try', device, device]),
      ...inside(reads, hidden),
      ...writes.flatMap((place) => ['--bind', place, place]),
      // Everything not bind-mounted is tmpfs; make its root read-only.
      ...['--remount-ro', '/'],
      ...['--chdir', cwd, '--'],
      ...argv,
    ],
  };
}

/**
 * Returns the arguments that mount readable folders and cover hidden ones. Of nested folders, the inner one
 * is mounted last.
 */
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
