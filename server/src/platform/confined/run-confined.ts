import { execFile } from 'node:child_process';
import { constants, type FileHandle, open, statfs } from 'node:fs/promises';
import { constants as system } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fairQueue } from '../concurrency/fair-queue.ts';
import { type AppError, fileReadersBusy, unavailable } from '../errors.ts';
import { machineMemoryBytes } from '../processes/processes.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { SCRATCH, type SharedFile, shareFiles } from '../sandbox/share-files.ts';
import { noRoom } from '../storage/local-part-store.ts';
import { memoryBudget } from './memory-budget.ts';

/**
 * Kinds of programs. Each kind has its own slots, so that slow queries do not block previews or uploads, and
 * its own maximum wait. `check` is for uploads and waits longest, because a rejected upload would have to be
 * sent again.
 */
const KINDS = {
  query: kindOf({ places: 2, waitMs: 120_000 }),
  preview: kindOf({ places: 2, waitMs: 60_000 }),
  check: kindOf({ places: 2, waitMs: 600_000 }),
  thumbnail: kindOf({ places: 1, waitMs: 60_000 }),
  card: kindOf({ places: 2, waitMs: 30_000 }),
};

function kindOf({ places, waitMs }: { places: number; waitMs: number }) {
  return { places, waitMs, queue: fairQueue(places, { perKey: 1 }) };
}

/** Shared by programs of all kinds. */
const memory = memoryBudget(machineMemoryBytes() / 2 ** 20 / 2);
/** Maximum number of waiting calls per user and kind. */
const WAITING_MAX = 32;
/** Long enough for a busy machine; ends programs that hang on an unresponsive disk. */
const WALL_MS = 180_000;
/** Far larger than any expected answer. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
/** Memory that a program may use outside its heap, for stacks, code and buffers. */
const BESIDE_HEAP_MB = 1024;

/** 1 GB in the shell's unit of 512 bytes. */
const FILE_BLOCKS_MAX = 2 * 1024 * 1024;
/** Leaves space for the files of all concurrent programs, and 1 GB for a database on the same disk. */
const FREE_BYTES_MIN = (KINDS.query.places + 1) * 1024 ** 3;

/** Source files of our own programs. */
const CODE = ['server', 'contract', 'node_modules', 'package.json'].map((name) =>
  path.resolve(import.meta.dirname, '../../../..', name),
);

/** A program that is not one of our own Node.js programs. */
type Command = {
  argv: string[];
  /** Folders that the program needs to read. */
  reads: string[];
  env: NodeJS.ProcessEnv;
};

type Work = {
  program: URL | Command;
  /** A file that the program reads. Its input contains the path as `localPath`. */
  localPath?: string;
  /** Files that the program reads by these names. Its input contains their folder as `folder`. */
  files?: SharedFile[];
  input?: object;
  /** Whether the program may write files into the subfolder SCRATCH of `folder`. */
  scratch?: boolean;
};

type Limits = {
  kind: keyof typeof KINDS;
  /** CPU time in whole seconds, including process startup. */
  cpuSeconds: number;
  wallMs?: number;
  heapMb: number;
  /** Each user runs one program per kind at a time. Waiting users are served round-robin. */
  userId: string;
  /** Maximum number of waiting programs of this user and kind. Defaults to 32. */
  waitingMax?: number;
  /** Aborted when the answer is no longer needed. The program then does not start, or is killed. */
  signal?: AbortSignal | undefined;
};

/** The program was killed because it exceeded its CPU time or memory. */
export class OutOfLimits extends Error {
  /** True for CPU time, which the same input needs again. */
  readonly isTimeExceeded: boolean;

  constructor(ending: string, options: ErrorOptions) {
    super(ending, options);
    this.isTimeExceeded = ending === 'SIGXCPU' || ending === `${128 + system.signals.SIGXCPU}`;
  }
}

/**
 * Reads untrusted bytes in a sandbox: starts the program, which responds with `answerConfined`, and resolves
 * with its answer. A process and not a thread, because a thread that runs out of memory ends the whole
 * server, and memory outside JavaScript's heap can only be limited for a process (on Linux). The environment
 * of our own programs is empty. Throws OutOfLimits, AppError 'unavailable' if too many wait or the machine is too slow, and the
 * signal's reason.
 */
export async function runConfined(sandbox: Sandbox, work: Work, limits: Limits): Promise<unknown> {
  return confine(sandbox, work, limits, { toFile: false, finish: async (answer) => answer });
}

/**
 * Like `runConfined`, for a program that also writes a file of at most 1 GB, `scratch/result` in its
 * `folder`. Returns it opened; it is deleted when it is closed. Null if there is none. Also throws AppError
 * 'unavailable' if the disk has no room for it.
 */
export async function runConfinedToFile(
  sandbox: Sandbox,
  work: Work,
  limits: Limits,
): Promise<{ answer: unknown; file: FileHandle | null }> {
  return confine(sandbox, work, limits, {
    toFile: true,
    finish: async (answer, folder) => ({
      answer,
      file: await openResult(path.join(folder, SCRATCH, 'result')),
    }),
  });
}

async function confine<T>(
  sandbox: Sandbox,
  { program, localPath, files = [], input, scratch: wantsScratch = false }: Work,
  limits: Limits,
  { toFile, finish }: { toFile: boolean; finish: (answer: unknown, folder: string) => Promise<T> },
): Promise<T> {
  const { kind, heapMb, userId, waitingMax = WAITING_MAX } = limits;
  if (KINDS[kind].queue.waiting(userId) >= waitingMax) throw fileReadersBusy();
  const scratch = toFile || wantsScratch;
  const shared = localPath ? [{ localPath, as: 'file' }, ...files] : files;
  const start = async ({ folder, user }: { folder: string; user: number }): Promise<T> => {
    if (toFile) await assertDiskSpace(folder);
    const command = program instanceof URL ? nodeCommand(program, heapMb) : program;
    const argv = await sandbox.enclose({
      argv: limited(command.argv, limits),
      cwd: folder,
      reads: [...command.reads, folder],
      writes: scratch ? [path.join(folder, SCRATCH)] : [],
      user,
    });
    const words = JSON.stringify({ ...input, folder, localPath: path.join(folder, 'file') });
    return finish(await run({ ...command, argv }, words, limits), folder);
  };
  const leave = await enter(limits);
  try {
    return await shareFiles(sandbox, shared, start, { scratch });
  } finally {
    leave();
  }
}

function nodeCommand(program: URL, heapMb: number): Command {
  const file = fileURLToPath(program);
  return {
    argv: [process.execPath, `--max-old-space-size=${heapMb}`, file],
    reads: [process.execPath, ...CODE, file],
    env: {},
  };
}

/** Waits for a slot, and then for memory. Throws AppError 'unavailable' if that takes too long. */
async function enter({ kind, userId, heapMb, signal }: Limits): Promise<() => void> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooSlow()), KINDS[kind].waitMs);
  const ends = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  try {
    const leave = await KINDS[kind].queue.enter(userId, ends);
    try {
      const release = await memory.enter(kind, heapMb + BESIDE_HEAP_MB, ends);
      return () => {
        release();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  } finally {
    clearTimeout(timer);
  }
}

async function assertDiskSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < FREE_BYTES_MIN) throw noRoom();
}

/** Opens a program's output safely: it must not be a link, a pipe, or another user's file. */
async function openResult(place: string): Promise<FileHandle | null> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  const found = await file?.stat();
  if (found?.isFile() && found.nlink === 1) return file;
  await file?.close();
  return null;
}

function tooSlow(cause?: Error): AppError {
  return unavailable(
    'The file could not be read in time, because this server is busy. Try again in a few minutes.',
    { cause },
  );
}

/** Returns the command that applies the limits, for any sandbox. */
function limited(argv: string[], { cpuSeconds, heapMb }: Limits): string[] {
  // No core dump; then limits of file size, CPU time and memory. Above the soft limit of CPU time the signal is
  // SIGXCPU, so that it differs from the system's own SIGKILL.
  const script = `ulimit -c 0; ulimit -f ${FILE_BLOCKS_MAX}; ulimit -St "$1"; ulimit -Ht "$(($1 + 1))"; ulimit -d "$2"; shift 2; exec "$@"`;
  const memoryKb = (heapMb + BESIDE_HEAP_MB) * 1024;
  return ['/bin/sh', '-c', script, 'sh', String(cpuSeconds), String(memoryKb), ...argv];
}

async function run(
  { argv, env }: Command,
  input: string,
  { wallMs = WALL_MS, signal }: Limits,
): Promise<unknown> {
  const [command = '', ...args] = argv;
  const answer = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      command,
      args,
      { env, timeout: wallMs, killSignal: 'SIGKILL', maxBuffer: ANSWER_BYTES_MAX, signal },
      (error, stdout, stderr) => {
        if (!error) resolve(stdout);
        else if (signal?.aborted) reject(signal.reason as Error);
        else if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') reject(error);
        else if (error.killed) reject(tooSlow(error));
        // A signal killed the program, for exceeding its CPU time or memory. A sandbox around the program may
        // report the signal as an exit status.
        else if (error.signal || Number(error.code) > 128)
          reject(new OutOfLimits(`${error.signal ?? error.code}`, { cause: error }));
        else reject(new Error(`${argv.join(' ')} failed: ${stderr.trim()}`, { cause: error }));
      },
    );
    // The program may end before it has read its input. The callback above handles its end.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
  return JSON.parse(answer);
}
