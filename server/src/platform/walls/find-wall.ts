import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { bubblewrapWall } from './bubblewrap-wall.ts';
import { userWall } from './user-wall.ts';
import { noWall, type Wall } from './wall.ts';
import { TRIAL_USER } from './workload-users.ts';

const run = promisify(execFile);
const TRY_MS = 10_000;

type Places = {
  /** Files are shared with programs behind the wall in here. */
  sharedDir: string;
  /** Folders that such programs read, which must be in their reach. */
  reads: string[];
  /** The server's own folders. */
  hidden: string[];
};

/**
 * The best wall that this machine has, tried with a program that does nothing: users where the server
 * may change the user, else bubblewrap, else none; with a line that says which, and why no better one.
 */
export async function findWall(places: Places): Promise<{ wall: Wall; line: string }> {
  await mkdir(places.sharedDir, { recursive: true, mode: 0o711 });
  const tried: string[] = [];
  if (process.platform === 'linux' && process.getuid?.() === 0) {
    const wall = userWall(places.sharedDir);
    const obstacle = await tryWall(wall, places);
    if (obstacle === null) return { wall, line: 'Workloads run as users of their own' };
    tried.push(`The server could not run them as users of their own (${obstacle})`);
  }
  if (process.platform === 'linux') {
    const wall = bubblewrapWall(places.sharedDir, places.hidden);
    const obstacle = await tryWall(wall, places);
    if (obstacle === null) return { wall, line: 'Workloads run in bubblewrap' };
    tried.push(`bubblewrap could not be used (${obstacle})`);
  }
  const line =
    "Workloads run as the server's own user: what strangers upload is not walled off from the server. " +
    (tried.length > 0 ? `${tried.join('; ')}.` : 'Walls need Linux.');
  return { wall: noWall(places.sharedDir), line };
}

/** Null where a program ran behind the wall; else the reason why it did not. */
async function tryWall(wall: Wall, { sharedDir, reads }: Places): Promise<string | null> {
  const program = {
    argv: ['/bin/sh', '-c', 'for place; do test -r "$place" || exit 1; done', 'sh', ...reads],
    cwd: sharedDir,
    reads: [...reads, sharedDir],
    writes: [],
    user: TRIAL_USER,
  };
  try {
    const [command = '', ...args] = await wall.enclose(program);
    await run(command, args, { timeout: TRY_MS, env: { PATH: process.env.PATH } });
    return null;
  } catch (error) {
    const { code, stderr } = error as { code?: string | number; stderr?: string };
    if (code === 'ENOENT') return 'it is not installed';
    const [line] = (stderr ?? '').trim().split('\n');
    return line || 'it may not read the program';
  }
}
