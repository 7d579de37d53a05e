import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { PlainError } from './plain-error.ts';
import { root } from './root.ts';

type Options = {
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** Destination of the child's output; 'stderr' leaves our own stdout clean. */
  stdout?: 'inherit' | 'stderr' | 'ignore';
  /** Aborting it ends the child with SIGTERM, unless a signal was already forwarded to it. */
  signal?: AbortSignal;
  /** Its own process group, for a child that must not also receive the terminal's Ctrl-C. */
  ownGroup?: boolean;
};

/**
 * Runs a program on the terminal's own streams and resolves to its exit code, which is 128 + n after signal
 * n. Forwards signals to the child and waits for its end.
 */
export function run(command: string, args: string[], options: Options = {}): Promise<number> {
  const child = spawn(command, args, {
    cwd: options.cwd ?? root,
    env: options.env ?? process.env,
    detached: options.ownGroup ?? false,
    stdio: [
      options.ownGroup ? 'ignore' : 'inherit',
      options.stdout === 'stderr' ? 2 : (options.stdout ?? 'inherit'),
      'inherit',
    ],
  });
  const restore = handOnSignals(child, options.ownGroup);
  options.signal?.addEventListener('abort', () => child.killed || child.kill('SIGTERM'));
  return endOf(child, command).finally(restore);
}

/** Runs a program without output and resolves to what it printed, both streams together. */
export async function capture(command: string, args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  const restore = handOnSignals(child);
  const code = await endOf(child, command).finally(restore);
  return { code, output: Buffer.concat(chunks).toString() };
}

function endOf(child: ChildProcess, command: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? new PlainError(`The program '${command}' is not installed.`) : error);
    });
    child.once('close', (code, signal) => {
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

/** A terminal sends Ctrl-C to the whole process group; other signals only reach this process. */
function handOnSignals(child: ChildProcess, ownGroup = false): () => void {
  const forward = (signal: NodeJS.Signals) => {
    if (ownGroup || signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, forward);
  return () => {
    for (const signal of signals) process.off(signal, forward);
  };
}
