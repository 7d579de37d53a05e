import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { PlainError } from './plain-error.ts';
import { root } from './root.ts';

type Options = {
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** Where the child's output goes. 'stderr' keeps it out of our own stdout. */
  stdout?: 'inherit' | 'stderr' | 'ignore';
  /** Aborting it sends SIGTERM to the child, unless a signal was already forwarded to it. */
  signal?: AbortSignal;
  /** Starts the child in its own process group, so that it does not receive the terminal's Ctrl-C as well. */
  ownGroup?: boolean;
};

/**
 * Runs a program on the terminal's streams. Returns its exit code, which is 128 + n if signal n ended it.
 * Forwards signals to the child, and waits until it has ended.
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
  const restore = forwardSignals(child, options.ownGroup);
  options.signal?.addEventListener('abort', () => child.killed || child.kill('SIGTERM'));
  return endOf(child, command).finally(restore);
}

/** Runs a program without showing its output. Returns what it printed to both streams. */
export async function capture(command: string, args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  const restore = forwardSignals(child);
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

/** Forwards signals, except Ctrl-C in a terminal: a child in the same process group has received it. */
function forwardSignals(child: ChildProcess, ownGroup = false): () => void {
  const forward = (signal: NodeJS.Signals) => {
    if (ownGroup || signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, forward);
  return () => {
    for (const signal of signals) process.off(signal, forward);
  };
}
