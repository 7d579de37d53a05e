import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BIRTH_TIMEOUT_MS, readOwner, signal } from './attempts.ts';

const LAUNCHER = fileURLToPath(new URL('./launch.sh', import.meta.url));

type Launched = {
  /** The attempt's file, which the launcher claims. */
  file: string;
  argv: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** File descriptor for stdout and stderr. */
  log: number;
  onEnd: () => void;
  /** Closes the attempt, so that a late launcher exits. */
  close: () => Promise<void>;
};

/** Starts a process in its own group, so that it outlives the server. Throws if it does not begin. */
export async function launchProcess({ file, argv, cwd, env, log, onEnd, close }: Launched): Promise<void> {
  const child = spawn('/bin/sh', [LAUNCHER, file, `${file}.exit`, ...argv], {
    cwd,
    detached: true,
    stdio: ['ignore', log, log],
    env,
  });
  child.once('exit', onEnd);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.unref();
  await waitForBirth(file, child).catch(async (error: unknown) => {
    // Make sure that a slow launcher cannot begin later, when its GPUs may belong to another workload.
    await close();
    if (!hasEnded(child) && child.pid !== undefined) signal(-child.pid, 'SIGKILL');
    throw error;
  });
}

async function waitForBirth(file: string, launcher: ChildProcess): Promise<void> {
  const deadline = Date.now() + BIRTH_TIMEOUT_MS;
  for (;;) {
    const ended = hasEnded(launcher);
    const owner = await readOwner(file);
    if (owner !== null && owner !== 'unknown') return;
    if (ended || owner === 'unknown') throw new Error('The process did not begin');
    if (Date.now() > deadline)
      throw new Error(`The process did not begin within ${BIRTH_TIMEOUT_MS / 1000} s`);
    await sleep(5);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
