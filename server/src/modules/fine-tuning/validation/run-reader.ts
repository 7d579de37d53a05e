import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runtimeCommand } from '../../../engine/host/runtime-command.ts';
import type { Context } from '../../../platform/context.ts';
import { invalidParam, unavailable } from '../../../platform/errors.ts';
import { ProgramFailed, runProgram } from '../../../platform/processes/run-program.ts';

type Reading = {
  command: 'validate' | 'validate-pictures';
  spec: object;
  /** The process is ended if it prints no line for this long. */
  stallMs: number;
  /** Aborts the reading. */
  signal?: AbortSignal | undefined;
  /**
   * Texts for error messages: what is read, and how to avoid the error. `param` is the field that names the
   * data.
   */
  what: string;
  advice: string;
  param: string;
  /** Called with each JSON value that the command prints on a line. */
  onLine?: (line: unknown) => void;
};

/**
 * Runs a reading command of the runtime on files that are shared with it. Returns the last JSON line that it
 * prints. Throws AppError('invalid_request') if it stalls, and 'unavailable' if it was killed.
 */
export async function runReader(
  { config, sandbox }: Pick<Context, 'config' | 'sandbox'>,
  { folder, user }: { folder: string; user: number },
  { command: name, spec, stallMs, signal: gone, what, advice, param, onLine }: Reading,
): Promise<unknown> {
  const specFile = path.join(folder, 'spec.json');
  await writeFile(specFile, JSON.stringify(spec));
  const runtime = await runtimeCommand(config);
  const enclosed = await sandbox.enclose({
    argv: [runtime.command, ...runtime.args, name, specFile],
    cwd: folder,
    reads: [...runtime.reads, folder],
    writes: [],
    user,
  });
  // It starts with normal priority, for a quick estimate, and then lowers its own priority.
  const [command = '', ...args] = enclosed;
  const stalled = new AbortController();
  const giveUp = setTimeout(() => stalled.abort(), stallMs);
  const signal = gone ? AbortSignal.any([stalled.signal, gone]) : stalled.signal;
  let last: unknown;
  const receiveLine = (line: string) => {
    if (!line.startsWith('{')) return;
    giveUp.refresh();
    last = JSON.parse(line);
    onLine?.(last);
  };
  try {
    await runProgram(command, args, { env: runtime.env, signal, onLine: receiveLine });
    return last;
  } catch (error) {
    gone?.throwIfAborted();
    if (stalled.signal.aborted) {
      throw invalidParam(param, `Reading ${what} made no progress. ${advice}`, error);
    }
    if (error instanceof ProgramFailed && typeof error.status === 'string') {
      throw unavailable(
        `Reading ${what} was interrupted: this machine may be short of memory. Please try again later, or with a smaller file.`,
        { cause: error },
      );
    }
    throw error;
  } finally {
    clearTimeout(giveUp);
  }
}
