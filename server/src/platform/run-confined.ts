import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { takeTurns } from './take-turns.ts';

/** Programs that may run at once, over all of their callers: together they stay below the memory of a small machine. */
const AT_ONCE = 2;
/** Far above any answer that a caller wants. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** What the process has beside its heap: stacks, code, and the buffers that it reads into. */
const BESIDE_HEAP_MB = 1024;

const takeTurn = takeTurns(AT_ONCE);

type Limits = {
  ms: number;
  heapMb: number;
  /** Whose work it is, e.g. a user's id: those who wait take turns. */
  whose: string;
};

/** A program was ended because it took more time or memory than it may. */
export class OutOfLimits extends Error {}

/**
 * Reads untrusted bytes away from the server: starts the program, which answers with
 * `answerConfined`, and resolves with its answer. It is a process and not a thread, because a
 * thread that runs out of memory takes the whole server with it, and because memory outside of
 * JavaScript's heap can only be limited for a process (on Linux). It gets nothing of the
 * environment. Throws OutOfLimits.
 */
export async function runConfined(program: URL, input: unknown, limits: Limits): Promise<unknown> {
  return takeTurn(limits.whose, () => run(fileURLToPath(program), JSON.stringify(input), limits));
}

function run(program: string, input: string, { ms, heapMb }: Limits): Promise<unknown> {
  // No core file of a process that was made to fail; then the limit of its memory, in kB.
  const script = 'ulimit -c 0; ulimit -d "$1"; shift; exec "$@"';
  const memoryKb = (heapMb + BESIDE_HEAP_MB) * 1024;
  const command = [process.execPath, `--max-old-space-size=${heapMb}`, program];
  return new Promise((resolve, reject) => {
    const child = execFile(
      '/bin/sh',
      ['-c', script, 'sh', String(memoryKb), ...command],
      { env: {}, timeout: ms, killSignal: 'SIGKILL', maxBuffer: ANSWER_BYTES_MAX },
      (error, stdout, stderr) => {
        if (!error) resolve(JSON.parse(stdout));
        else if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') reject(error);
        // Of a program that runs out of memory JavaScript's engine, or the system, makes an end.
        else if (error.signal) reject(new OutOfLimits(error.signal, { cause: error }));
        else reject(new Error(`${program} failed: ${stderr.trim()}`, { cause: error }));
      },
    );
    // It may end before it has read its input; how it ended is told above.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
