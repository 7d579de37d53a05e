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

/** The reader stops after 64 MB, which takes a few seconds. */
const CPU_SECONDS = 30;
/** Beyond this a few hundred megabytes of Python objects do not fit. */
const HEAP_MB = 512;
const WAITING_MAX = 4;
/** Files of killed processes are deleted after an hour (`removeSharedFiles`). */
const KEPT_MS = 30 * 60 * 1000;
const KEPT_BYTES_MAX = 1024 ** 3;
const KEPT_MAX = 1000;

const profile = z.object({
  /** At most the first 200. */
  columns: z.array(z.string()),
  column_count: z.int(),
  /** How training reads the file by default; null if unknown. */
  format: dataFormat.nullable(),
  /** Why the format is unknown or training cannot read the file. */
  format_problem: z.string().nullable(),
  /** Of csv. */
  dialect: z.object({ delimiter: z.string(), is_quoted: z.boolean(), first_line: z.int() }).nullable(),
  /** True if all rows of the file were read and written; of a large file only the first are. */
  is_whole: z.boolean(),
  /** Null if the file was not read to its end. */
  row_count: z.int().nullable(),
  rows_written: z.int(),
  /** Unreadable rows, at most the first 10,000 of `broken_count`. */
  broken: z.array(droppedRow),
  broken_count: z.int(),
});
export type Profile = z.infer<typeof profile>;

const answer = z.union([z.object({ unreadable: z.string() }), profile]);

type File = { path: string; sha256: string };
type Entry = { profile: Profile; folder: string | null; bytes: number; users: number; isOld: boolean };

/** By content and name. */
const entries = new Map<string, Entry>();
/** By user, content and name: a user does not wait for the turn of another user. */
const readings = new Map<string, Promise<Entry>>();
let keptBytes = 0;

/**
 * Calls `work` with what training's reader found in a data file and with the rows that it wrote as Parquet;
 * `rowsPath` is null for a file that is Parquet itself. Results are kept for half an hour. Throws
 * AppError('invalid_request') for unreadable files and exceeded limits, and 'unavailable' until the Python
 * environment is installed or if the user has too many requests waiting.
 */
export async function withProfile<T>(
  ctx: Context,
  file: File,
  work: (found: { profile: Profile; rowsPath: string | null }) => Promise<T>,
): Promise<T> {
  const entry = await findEntry(ctx, file);
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
  return (await findEntry(ctx, file)).profile;
}

/** Not aborted if the caller leaves: the next view of the file needs the same result. */
async function findEntry(ctx: Context, file: File): Promise<Entry> {
  const key = `${file.sha256} ${path.basename(file.path)}`;
  const known = entries.get(key);
  if (known) return known;
  const userKey = `${ctx.caller.userId} ${key}`;
  const reading =
    readings.get(userKey) ??
    createEntry(ctx, file)
      .then((entry) => keep(key, entry))
      .finally(() => readings.delete(userKey));
  readings.set(userKey, reading);
  return reading;
}

function keep(key: string, entry: Entry): Entry {
  // Another user may have read the same file.
  const known = entries.get(key);
  if (known) {
    removeUnused({ ...entry, isOld: true }).catch(() => undefined);
    return known;
  }
  entries.set(key, entry);
  keptBytes += entry.bytes;
  setTimeout(() => drop(key), KEPT_MS).unref();
  for (const oldest of entries.keys()) {
    if (keptBytes <= KEPT_BYTES_MAX && entries.size <= KEPT_MAX) break;
    if (oldest !== key) drop(oldest);
  }
  return entry;
}

function drop(key: string): void {
  const entry = entries.get(key);
  if (!entry) return;
  entries.delete(key);
  keptBytes -= entry.bytes;
  entry.isOld = true;
  removeUnused(entry).catch(() => undefined);
}

async function removeUnused({ folder, users, isOld }: Entry): Promise<void> {
  if (folder && isOld && users === 0) await rm(folder, { recursive: true, force: true });
}

async function createEntry(ctx: Context, file: File): Promise<Entry> {
  const entry: Omit<Entry, 'profile'> = { folder: null, bytes: 0, users: 0, isOld: false };
  const isParquet = extensionOf(file.path) === 'parquet';
  try {
    const { found, folder, bytes } = await runProfile(ctx, file);
    if (!('unreadable' in found)) return { ...entry, profile: found, folder, bytes };
    if (isParquet) return { ...entry, profile: withProblem(found.unreadable) };
    throw invalidParam('path', found.unreadable);
  } catch (error) {
    if (!(error instanceof OutOfLimits)) throw error;
    const tooLarge = tooMuch(file.path, error);
    // DuckDB may still read its rows.
    if (isParquet) return { ...entry, profile: withProblem(tooLarge.publicMessage) };
    throw tooLarge;
  }
}

/** Returns the error for a file that exceeds the limits of a confined program. */
export function tooMuch(file: string, cause: OutOfLimits): AppError {
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

async function runProfile(ctx: Context, file: File) {
  if (!(await hasLayer(ctx.config, 'training'))) throw pythonNotReady();
  const { command, args, env, reads } = await runtimeCommand(ctx.config);
  const as = isPacked(file.path) ? 'data.gz' : 'data';
  const run = await withBlobFile(ctx, file, (localPath) =>
    runConfinedToFile(
      ctx.sandbox,
      {
        program: { argv: [command, ...args, 'profile'], reads, env },
        files: [{ localPath, as }],
        input: { file: as, name: file.path },
      },
      {
        ...{ kind: 'preview', cpuSeconds: CPU_SECONDS, heapMb: HEAP_MB, waitingMax: WAITING_MAX },
        userId: ctx.caller.userId,
      },
    ),
  );
  try {
    const found = answer.parse(run.answer);
    if (!run.file || 'unreadable' in found) return { found, folder: null, bytes: 0 };
    const folder = path.join(ctx.sandbox.sharedDir, randomBytes(16).toString('hex'));
    await mkdir(folder, { mode: 0o700 });
    const { size: bytes } = await run.file.stat();
    const target = createWriteStream(path.join(folder, ROWS_FILE), { mode: 0o444 });
    await pipeline(run.file.createReadStream({ autoClose: false }), target);
    return { found, folder, bytes };
  } finally {
    await run.file?.close();
  }
}
