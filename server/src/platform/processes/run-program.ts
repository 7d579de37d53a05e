import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { readLines } from './processes.ts';

type Options = {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Called with each line of stdout and stderr. */
  onLine?: (line: string) => void;
  /** Aborting it ends the program with SIGTERM. */
  signal?: AbortSignal;
};

const LINES_KEPT = 50;

/** The program exited with a status other than 0, or by a signal. `output` contains its last lines. */
export class ProgramFailed extends Error {
  readonly status: number | string;
  readonly output: string[];

  constructor(command: string, status: number | string, output: string[]) {
    super(`${command} ended with ${status}: ${output.join('\n')}`);
    this.status = status;
    this.output = output;
  }
}

/**
 * Runs a program until it ends, and returns its last lines. Throws ProgramFailed, errors of spawn, and errors
 * of `onLine`. An error of `onLine` also ends the program.
 */
export async function runProgram(command: string, args: string[], options: Options = {}): Promise<string[]> {
  const { cwd, env, onLine, signal } = options;
  signal?.throwIfAborted();
  const child = spawn(command, args, { cwd, env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  const ended = await new Promise<number | string>((resolve, reject) => {
    const read = async (stream: Readable) => {
      for await (const line of readLines(stream)) {
        if (output.push(line) > LINES_KEPT) output.shift();
        onLine?.(line);
      }
    };
    const reading = Promise.all([child.stdout, child.stderr].map(read));
    reading.catch((error: unknown) => {
      child.kill();
      reject(error);
    });
    // Not `once`, because a failed kill emits a second error.
    child.on('error', reject);
    child.once('close', (code, killedBy) => {
      const status = code ?? killedBy ?? 'no status';
      reading.then(() => resolve(status), reject);
    });
  });
  if (ended !== 0) throw new ProgramFailed(command, ended, output);
  return output;
}
