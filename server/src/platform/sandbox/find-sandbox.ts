import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bubblewrapSandbox } from './bubblewrap-sandbox.ts';
import { readerSandbox } from './reader/reader-sandbox.ts';
import { noSandbox, type Sandbox } from './sandbox.ts';
import { TRIAL_USER, userSandbox } from './user-sandbox.ts';

const run = promisify(execFile);
const TRY_MS = 10_000;
/** Long, because the reader's container may start later than the server's. */
const READER_MS = 60_000;
const READER_PAUSE_MS = 1_000;

type Places = {
  /** Folder for files that are shared with sandboxed programs. */
  sharedDir: string;
  /** Folders that such programs must be able to read. */
  reads: string[];
  /** The server's own folders. */
  hidden: string[];
};

/**
 * Returns the best sandbox that works on this machine, tested with a program that does nothing. Prefers
 * separate users, which require that the server may change its user, over bubblewrap, and bubblewrap over
 * none. Also returns a log line that names the sandbox and explains why no better one is used.
 */
export async function findSandbox(places: Places): Promise<{ sandbox: Sandbox; line: string }> {
  await mkdir(places.sharedDir, { recursive: true, mode: 0o711 });
  const tried: string[] = [];
  if (process.platform === 'linux' && process.getuid?.() === 0) {
    const sandbox = userSandbox(places.sharedDir);
    const obstacle = await trySandbox(sandbox, places);
    if (obstacle === null) return { sandbox, line: 'Each workload runs as a separate system user' };
    tried.push(`The server could not run them as separate users (${obstacle})`);
  }
  if (process.platform === 'linux') {
    const sandbox = bubblewrapSandbox(places.sharedDir, places.hidden);
    const obstacle = await trySandbox(sandbox, places);
    if (obstacle === null) return { sandbox, line: 'Workloads run in bubblewrap' };
    tried.push(`bubblewrap could not be used (${obstacle})`);
  }
  const line =
    "Workloads run as the server's user: programs that read uploaded files are not sandboxed. " +
    (tried.length > 0 ? `${tried.join('; ')}.` : 'A sandbox needs Linux.');
  return { sandbox: noSandbox(places.sharedDir), line };
}

/** Returns the sandbox of the reader at this socket. Throws a plain sentence if it cannot run programs. */
export async function findReader(
  places: Pick<Places, 'sharedDir' | 'reads'>,
  socketPath: string,
  waitMs = READER_MS,
): Promise<Sandbox> {
  await mkdir(places.sharedDir, { recursive: true, mode: 0o711 });
  const sandbox = readerSandbox(places.sharedDir, socketPath);
  const until = performance.now() + waitMs;
  for (;;) {
    const obstacle = await trySandbox(sandbox, places);
    if (obstacle === null) return sandbox;
    if (performance.now() > until)
      throw new Error(
        `The reader at ${socketPath} (BAKEHOUSE_READER) cannot run programs (${obstacle}): start it next to this server from the same image, with the folder ${places.sharedDir} mounted at the same path`,
      );
    await sleep(READER_PAUSE_MS);
  }
}

/** Returns null if a program ran in the sandbox; otherwise the reason for the failure. */
async function trySandbox(
  sandbox: Sandbox,
  { sharedDir, reads }: Pick<Places, 'sharedDir' | 'reads'>,
): Promise<string | null> {
  const program = {
    argv: ['/bin/sh', '-c', 'for place; do test -r "$place" || exit 1; done', 'sh', ...reads],
    cwd: sharedDir,
    reads: [...reads, sharedDir],
    writes: [],
    user: TRIAL_USER,
  };
  try {
    const [command = '', ...args] = await sandbox.enclose(program);
    await run(command, args, { timeout: TRY_MS, env: { PATH: process.env.PATH } });
    return null;
  } catch (error) {
    const { code, stderr } = error as { code?: string | number; stderr?: string };
    if (code === 'ENOENT') return 'it is not installed';
    const [line] = (stderr ?? '').trim().split('\n');
    return line || 'it cannot read the program';
  }
}
