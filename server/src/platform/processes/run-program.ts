import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

type Options = {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Called with each line of both streams. */
  onLine?: (line: string) => void;
  /** Aborting it ends the program with SIGTERM. */
  signal?: AbortSignal;
};

const LINES_KEPT = 50;

/** A program that ended with a status other than 0, or by a signal, e.g. 'SIGKILL'; `output` holds its last lines. */
export class ProgramFailed extends Error {
  readonly status: number | string;
  readonly output: string[];

  constructor(command: string, status: number | string, output: string[]) {
    super(`${command} ended with ${status}: ${output.join('\n')}`);
    this.status = status;
    this.output = output;
  }
}

/** Runs a program to its end and resolves to its last lines. Throws ProgramFailed, or what spawn throws. */
export async function runProgram(command: string, args: string[], options: Options = {}): Promise<string[]> {
  const { cwd, env, onLine, signal } = options;
  signal?.throwIfAborted();
  const child = spawn(command, args, { cwd, env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      if (output.push(line) > LINES_KEPT) output.shift();
      onLine?.(line);
    });
  }
  const ended = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, killedBy) => resolve(code ?? killedBy ?? 'no status'));
  });
  if (ended !== 0) throw new ProgramFailed(command, ended, output);
  return output;
}
