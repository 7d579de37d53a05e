import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { dataFormat, droppedRow } from '@bakehouse/contract/runtime/train-spec';
import * as z from 'zod';
import { hasLayer } from '../../engine/host/environment/environment.ts';
import { runtimeCommand } from '../../engine/host/runtime-command.ts';
import { OutOfLimits, runConfinedToFile } from '../../platform/confined/run-confined.ts';
import type { Context } from '../../platform/context.ts';
import { type AppError, invalidParam, pythonNotReady } from '../../platform/errors.ts';
import { withBlobFile } from '../../platform/storage/read-blob.ts';
import { extensionOf, isPacked, ROWS_FILE } from './data-file.ts';

/** Enough, because the reader stops after 64 MB, which take a few seconds. */
const CPU_SECONDS = 30;
/** Enough for a few hundred megabytes of Python objects, which is what 64 MB of a file need. */
const HEAP_MB = 512;
const WAITING_MAX = 4;
/** Must be shorter than an hour, after which `removeSharedFiles` deletes files of killed processes. */
const KEPT_MS = 30 * 60 * 1000;
const KEPT_BYTES_MAX = 1024 ** 3;
/** Of profiles in memory. */
const KEPT_HEAP_MAX = 64 * 1024 ** 2;
const KEPT_MAX = 1000;

const profile = z.object({
  /** The first 200 at most. */
  columns: z.array(z.string()),
  column_count: z.int(),
  /** The format in which training reads the file by default; null if unknown. */
  format: dataFormat.nullable(),
  /** Why the format is unknown or training cannot read the file. */
  format_problem: z.string().nullable(),
  /** Null for other files than csv. */
  dialect: z.object({ delimiter: z.string(), is_quoted: z.boolean(), first_line: z.int() }).nullable(),
  /** True if the reader has read and written all rows. Of a large file, it reads only the first ones. */
  is_whole: z.boolean(),
  /** Null if the reader did not reach the end of the file. */
  row_count: z.int().nullable(),
  rows_written: z.int(),
  /** The unreadable rows, but at most the first 10,000; `broken_count` counts all. */
  broken: z.array(droppedRow),
  broken_count: z.int(),
});
export type Profile = z.infer<typeof profile>;

const answer = z.union([z.object({ unreadable: z.string() }), profile]);

type File = { path: string; sha256: string };
type Entry = {
  profile: Profile;
  /** Returns the error for a file that cannot be read; it is named as the caller names it. */
  refuse: ((path: string) => AppError) | null;
  folder: string | null;
  bytes: number;
  heapBytes: number;
  users: number;
  isOld: boolean;
};

/** By hash and name of the file. */
const entries = new Map<string, Entry>();
/**
 * Running reads, by user, and hash and name of the file. Users do not share a read, because each waits in
 * their own queue.
 */
const readings = new Map<string, Promise<Entry>>();
let keptBytes = 0;
let keptHeap = 0;

/**
 * Calls `work` with what training's reader has found in a data file, and with the path of the rows that it
 * wrote as Parquet. `rowsPath` is null if the file itself is Parquet. Results, also failed ones, are reused for
 * half an hour.
 * Throws AppError('invalid_request') for unreadable files and exceeded limits, and 'unavailable' while the
 * Python environment is being installed or if the user has too many requests waiting.
 */
export async function withProfile<T>(
  ctx: Context,
  file: File,
  work: (found: { profile: Profile; rowsPath: string | null }) => Promise<T>,
): Promise<T> {
  const entry = await requireEntry(ctx, file);
  entry.users += 1;
  try {
    const { folder } = entry;
    return await work({ profile: entry.profile, rowsPath: folder && path.join(folder, ROWS_FILE) });
  } finally {
    entry.users -= 1;
    await removeUnused(entry);
  }
}

/** Returns what training's reader found in a data file. Throws the errors of `withProfile`. */
export async function readProfile(ctx: Context, file: File): Promise<Profile> {
  return (await requireEntry(ctx, file)).profile;
}

async function requireEntry(ctx: Context, file: File): Promise<Entry> {
  const entry = await findEntry(ctx, file);
  if (entry.refuse) throw entry.refuse(file.path);
  return entry;
}

/** Continues after the caller has disconnected, because the next view of the file needs the same result. */
async function findEntry(ctx: Context, file: File): Promise<Entry> {
  const key = `${file.sha256} ${path.basename(file.path)}`;
  const known = entries.get(key);
  if (known) return known;
  const userKey = `${ctx.caller.userId} ${key}`;
  const reading =
    readings.get(userKey) ??
    createEntry(ctx, file)
      .then((entry) => cacheEntry(key, entry))
      .finally(() => readings.delete(userKey));
  readings.set(userKey, reading);
  return reading;
}

function cacheEntry(key: string, entry: Entry): Entry {
  // Another user may have read the same file at the same time; keep the first result.
  const known = entries.get(key);
  if (known) {
    removeUnused({ ...entry, isOld: true }).catch(() => undefined);
    return known;
  }
  entries.set(key, entry);
  keptBytes += entry.bytes;
  keptHeap += entry.heapBytes;
  setTimeout(() => entries.get(key) === entry && drop(key), KEPT_MS).unref();
  for (const oldest of entries.keys()) {
    if (keptBytes <= KEPT_BYTES_MAX && keptHeap <= KEPT_HEAP_MAX && entries.size <= KEPT_MAX) break;
    if (oldest !== key) drop(oldest);
  }
  return entry;
}

function drop(key: string): void {
  const entry = entries.get(key);
  if (!entry) return;
  entries.delete(key);
  keptBytes -= entry.bytes;
  keptHeap -= entry.heapBytes;
  entry.isOld = true;
  removeUnused(entry).catch(() => undefined);
}

async function removeUnused({ folder, users, isOld }: Entry): Promise<void> {
  if (folder && isOld && users === 0) await rm(folder, { recursive: true, force: true });
}

async function createEntry(ctx: Context, file: File): Promise<Entry> {
  const empty = { ...{ refuse: null, folder: null, bytes: 0, heapBytes: 0 }, ...{ users: 0, isOld: false } };
  const isParquet = extensionOf(file.path) === 'parquet';
  try {
    const { found, folder, bytes } = await runProfile(ctx, file);
    if (!('unreadable' in found))
      return { ...empty, profile: found, folder, bytes, heapBytes: estimateHeapBytes(found) };
    const refuse = isParquet ? null : () => invalidParam('path', found.unreadable);
    return { ...empty, profile: withProblem(found.unreadable), refuse };
  } catch (error) {
    if (!(error instanceof OutOfLimits)) throw error;
    const { publicMessage } = confinedLimitExceeded(file.path, error);
    // Training's reader failed, but DuckDB may be able to read the Parquet file itself.
    // Memory may suffice the next time.
    if (!isParquet && !error.isTimeExceeded) throw confinedLimitExceeded(file.path, error);
    const refuse = isParquet ? null : (name: string) => confinedLimitExceeded(name, error);
    return { ...empty, profile: withProblem(publicMessage), refuse };
  }
}

/** Returns the error for a file that exceeds the limits of a confined program. */
export function confinedLimitExceeded(file: string, cause: OutOfLimits): AppError {
  return invalidParam(
    'path',
    `${file} takes too much time or memory to be shown here. Download it to see its rows.`,
    cause,
  );
}

/** Returns the profile of a Parquet file that training cannot read. */
export function withProblem(format_problem: string): Profile {
  return {
    ...{ columns: [], column_count: 0, format: null, format_problem, dialect: null },
    ...{ is_whole: true, row_count: null, rows_written: 0, broken: [], broken_count: 0 },
  };
}

function estimateHeapBytes({ columns, broken }: Profile): number {
  const texts = [...columns, ...broken.map(({ reason }) => reason)];
  return texts.reduce((bytes, text) => bytes + text.length * 2 + 100, 0);
}

async function runProfile(ctx: Context, file: File) {
  const run = await runDataCommand(ctx, file, { command: 'profile', cpuSeconds: CPU_SECONDS });
  try {
    const found = answer.parse(run.answer);
    if (!run.file || 'unreadable' in found) return { found, folder: null, bytes: 0 };
    const folder = path.join(ctx.sandbox.sharedDir, randomBytes(16).toString('hex'));
    await mkdir(folder, { mode: 0o700 });
    const { size: bytes } = await run.file.stat();
    const target = createWriteStream(path.join(folder, ROWS_FILE), { mode: 0o444 });
    await pipeline(run.file.createReadStream({ autoClose: false }), target).catch(async (error: unknown) => {
      await rm(folder, { recursive: true, force: true });
      throw error;
    });
    return { found, folder, bytes };
  } finally {
    await run.file?.close();
  }
}

/**
 * Runs a command of the runtime on a data file, confined, and returns its answer and the file that it wrote,
 * which the caller must close. Throws the errors of `runConfinedToFile`, and AppError 'unavailable' while the
 * Python environment is being installed.
 */
export async function runDataCommand(
  ctx: Context,
  file: File,
  { command: name, cpuSeconds, input }: { command: string; cpuSeconds: number; input?: object },
) {
  if (!(await hasLayer(ctx.config, 'training'))) throw pythonNotReady();
  const { command, args, env, reads } = await runtimeCommand(ctx.config);
  const as = isPacked(file.path) ? 'data.gz' : 'data';
  return withBlobFile(ctx, file, (localPath) =>
    runConfinedToFile(
      ctx.sandbox,
      {
        program: { argv: [command, ...args, name], reads, env },
        files: [{ localPath, as }],
        input: { ...input, file: as, name: file.path },
      },
      {
        ...{ kind: 'preview', cpuSeconds, heapMb: HEAP_MB, waitingMax: WAITING_MAX },
        userId: ctx.caller.userId,
      },
    ),
  );
}
