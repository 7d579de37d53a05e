import type { Readable } from 'node:stream';
import { type SqlAnswer, type SqlFormat, type SqlTables, sqlAnswer } from '@bakehouse/contract/sql';
import * as z from 'zod';
import { openByKey } from '../../../platform/concurrency/open-by-key.ts';
import { shareLimit } from '../../../platform/concurrency/share-limit.ts';
import { OutOfLimits, runConfined, runConfinedToFile } from '../../../platform/confined/run-confined.ts';
import type { Context } from '../../../platform/context.ts';
import { AppError, invalidParam, tooMany } from '../../../platform/errors.ts';
import { Answer } from '../../../platform/http/answer.ts';
import type { SharedFile } from '../../../platform/sandbox/share-files.ts';
import { withBlobFiles } from '../../../platform/storage/read-blob.ts';
import { contentDisposition } from '../../assets/files/content-type.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { DATA_FILE_PATTERN, extensionOf, hasRows, unpackedName } from '../data-file.ts';
import { type Profile, readProfile } from '../read-profile.ts';
import type { Query, QueryAnswer } from './answer-query.ts';

/** Maximum files that become tables. */
const FILES_MAX = 1000;

export const PROGRAM = new URL('./answer-query-program.ts', import.meta.url);

/** Maximum duration of a query. */
const SECONDS_MAX = 30;

/** DuckDB interrupts a slow query itself. These limits stop a query that does not respond to that. */
const queryLimits = { kind: 'query', cpuSeconds: 120, wallMs: 60_000, heapMb: 1024, waitingMax: 4 } as const;

const refusal = z.object({ refused: z.string() });
const answered = z.object({
  answer: sqlAnswer.omit({ dropped_count: true }).extend({ skipped: z.array(z.string()) }),
});
const DROPPED_SHOWN = 20;
const contentTypes = { csv: 'text/csv; charset=utf-8', parquet: 'application/vnd.apache.parquet' };

/**
 * Maximum exports per user at the same time, across all processes. Each uses disk space until it was
 * downloaded.
 */
const EXPORTS_MAX = 2;

/** The connection of a client that makes no progress is closed after this time. */
const STALL_MS = 60_000;

const exporting = openByKey();

/** Runs a query over a dataset's files and returns a page of rows. Throws the errors of `runConfinedQuery`. */
export async function runSql(
  ctx: Context,
  { offset, limit, ...asked }: QueryRequest & { offset: number; limit: number },
): Promise<SqlAnswer> {
  const answer = await runConfinedQuery(ctx, asked, async ({ work, limits }, files) => {
    const input = { ...work.input, offset, limit };
    const found = await runConfined(ctx.sandbox, { ...work, input }, limits);
    return { answer: found, result: { found, files } };
  });
  const { dropped, skipped, ...page } = answered.parse(answer.found).answer;
  const lines = await nameDropped(ctx, answer.files, { dropped, skipped });
  return { ...page, dropped: lines.slice(0, DROPPED_SHOWN), dropped_count: lines.length };
}

/**
 * Returns the lines of skipped rows. DuckDB counts rows instead of lines, so these are the lines that
 * training's reader could not read. If this reader fails or does not read the whole file, returns the lines
 * that DuckDB reports.
 */
async function nameDropped(
  ctx: Context,
  files: StoredFile[],
  { dropped, skipped }: Pick<QueryAnswer, 'dropped' | 'skipped'>,
): Promise<SqlAnswer['dropped']> {
  const lines: SqlAnswer['dropped'] = [];
  for (const path of skipped) {
    const file = files.find((one) => one.path === path);
    const { broken = [], is_whole = false } =
      (file && (await findProfile(ctx, file).catch(() => null))) ?? {};
    if (is_whole && broken.length > 0) lines.push(...broken.map((row) => ({ path, ...row })));
    else lines.push(...dropped.filter((line) => line.path === path));
  }
  return lines;
}

/** Returns null if training cannot read the file, for example because of its encoding. */
async function findProfile(ctx: Context, file: StoredFile): Promise<Profile | null> {
  return readProfile(ctx, file).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'invalid_request') return null;
    throw error;
  });
}

/** Returns how the first file of a csv table separates its values. */
async function findDialect(ctx: Context, [first]: StoredFile[]): Promise<Profile['dialect']> {
  const isCsv = first && ['csv', 'tsv'].includes(extensionOf(unpackedName(first.path)));
  return isCsv ? ((await findProfile(ctx, first))?.dialect ?? null) : null;
}

/** A query of a dataset's revision, by default the newest. Aborting the signal stops it. */
type QueryRequest = RevisionRequest & {
  query: string;
  signal?: AbortSignal | undefined;
};

type Confined = {
  work: {
    program: URL;
    files: SharedFile[];
    input: Pick<Query, 'tables' | 'seconds' | 'query'>;
    scratch: true;
  };
  limits: typeof queryLimits & { userId: string; signal: AbortSignal | undefined };
};

/**
 * Runs a query in a confined process, which gets the files of the tables that the query names. Throws
 * AppError('invalid_request') with DuckDB's message if the query is rejected, fails or exceeds a limit.
 * Throws 'unavailable' if the user has too many requests waiting, the errors of `findTables`, and the
 * signal's reason on abort.
 */
async function runConfinedQuery<T>(
  ctx: Context,
  { query, signal, ...revision }: QueryRequest,
  run: (confined: Confined, files: StoredFile[]) => Promise<{ answer: unknown; result: T }>,
): Promise<T> {
  const { tables } = await findTables(ctx, revision);
  const meant = tablesOf(tables, query);
  const stored = [...new Set(meant.flatMap(({ files }) => files))];
  const asOf = new Map(stored.map((file, at) => [file, shownName(file.path, at)]));
  const asked: Query['tables'] = [];
  for (const { name, files } of meant) {
    const named = files.map((file) => ({ as: asOf.get(file) ?? '', path: file.path }));
    signal?.throwIfAborted();
    asked.push({ name, dialect: await findDialect(ctx, files), files: named });
  }
  const { answer, result } = await withBlobFiles(ctx, stored, (localPaths) =>
    run(
      {
        work: {
          program: PROGRAM,
          files: localPaths.map((localPath, at) => ({ localPath, as: [...asOf.values()][at] ?? '' })),
          input: { tables: asked, seconds: SECONDS_MAX, query },
          scratch: true,
        },
        limits: { ...queryLimits, userId: ctx.caller.userId, signal },
      },
      stored,
    ),
  ).catch((cause: unknown) => {
    if (!(cause instanceof OutOfLimits)) throw cause;
    throw invalidParam('query', 'The query takes too much time or memory.', cause);
  });
  const no = refusal.safeParse(answer);
  if (no.success) throw invalidParam('query', no.data.refused);
  return result;
}

/**
 * Returns the tables that the query may refer to. The first table has two names, so it may be included twice.
 */
function tablesOf(tables: Table<StoredFile>[], query: string): Table<StoredFile>[] {
  const [first] = tables;
  const named = tables.filter(({ name }) => isNamed(query, name));
  const again =
    first && first.name !== FIRST_NAME && isNamed(query, FIRST_NAME) ? [{ ...first, name: FIRST_NAME }] : [];
  return [...named, ...again];
}

/** Returns a unique path for the file, without characters that DuckDB would expand as a pattern. */
function shownName(path: string, at: number): string {
  const plain = path.replace(/[^\p{L}\p{N}._/ -]/gu, '_');
  return plain === path ? path : `${at}/${plain}`;
}

type StoredFile = { path: string; sha256: string; sizeBytes: number };

type RevisionRequest = { assetId: string; revisionId?: string | undefined };

/**
 * Returns the tables of a revision, the newest by default. Throws AppError('not_found') unless the caller may
 * read it, and 'conflict' if it has no files yet.
 */
async function findTables(
  ctx: Context,
  { assetId, revisionId }: RevisionRequest,
): Promise<{ tables: Table<StoredFile>[]; hasMore: boolean }> {
  const { files } = await readRevision(ctx.db, {
    assetId,
    ...(revisionId && { revisionId }),
    userId: ctx.caller.userId,
    matching: DATA_FILE_PATTERN,
    limit: FILES_MAX + 1,
  });
  const data = files.slice(0, FILES_MAX).filter(({ path }) => hasRows(path));
  return { tables: nameTables(data), hasMore: files.length > FILES_MAX };
}

/** Returns the tables that SQL can query. */
export async function listTables(ctx: Context, asked: RevisionRequest): Promise<SqlTables> {
  const { tables, hasMore } = await findTables(ctx, asked);
  return {
    tables: tables.map(({ name, files }) => ({
      name,
      paths: files.map(({ path }) => path),
      size_bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    })),
    has_more: hasMore,
  };
}

/**
 * Returns all rows of a query as a file. The file is deleted when it was sent or the client has disconnected.
 * Throws AppError 'rate_limited' if the user has two exports in progress, and the errors of
 * `runConfinedQuery`.
 */
export async function exportSql(
  ctx: Context,
  { format, ...asked }: QueryRequest & { format: SqlFormat },
): Promise<Answer<Readable>> {
  const leave = exporting.enter(ctx.caller.userId, shareLimit(EXPORTS_MAX, ctx.webProcesses()));
  if (leave === null)
    throw tooMany('You are already downloading two results. Try again when one has finished');
  try {
    const file = await runConfinedQuery(ctx, asked, async ({ work, limits }) => {
      const input = { ...work.input, format };
      const { answer, file: result } = await runConfinedToFile(ctx.sandbox, { ...work, input }, limits);
      return { answer, result };
    });
    if (!file) throw new Error('Query succeeded but wrote no file');
    const { size } = await file.stat();
    const headers = {
      'cache-control': 'private, no-store',
      'content-type': contentTypes[format],
      'content-disposition': contentDisposition('attachment', `result.${format}`),
      'content-length': size,
    };
    const rows = file.createReadStream().once('close', leave);
    return new Answer(rows, { headers, stallMs: STALL_MS });
  } catch (error) {
    leave();
    throw error;
  }
}

/** A data file that SQL can query. */
export type TableFile = { path: string; sizeBytes: number };

/** A table and its files. These are a single file, or all parts of a split file. */
export type Table<F extends TableFile = TableFile> = { name: string; files: F[] };

/** Names of parts of a split file, such as train-00000-of-00002.parquet. */
const PART = /-\d{5}-of-\d{5}(?=\.[^/]*$)/;
/** Second name of the first table. */
export const FIRST_NAME = 'data';

/**
 * Returns one table per data file. A table is named after its file without the extension, or after the whole
 * path if several files have the same name. Names are unique even if case is ignored.
 */
export function nameTables<F extends TableFile>(files: readonly F[]): Table<F>[] {
  const groups = new Map<string, F[]>();
  for (const file of files) {
    const whole = file.path.replace(PART, '');
    groups.set(whole, [...(groups.get(whole) ?? []), file]);
  }
  const paths = [...groups.keys()];
  const short = paths.map((path) => toName(path.split('/').at(-1) ?? path));
  const taken = new Set<string>();
  return paths.map((path, at) => {
    const own = short[at] ?? '';
    const isShared = short.filter((other) => other === own).length > 1 || (own === FIRST_NAME && at > 0);
    const name = untaken(isShared ? toName(path) : own, taken);
    taken.add(name);
    return { name, files: groups.get(path) ?? [] };
  });
}

/** 'My facts (2).csv.gz' -> 'my_facts_2', an identifier that needs no quotes. */
function toName(path: string): string {
  const words = path
    .replace(/\.gz$/i, '')
    .replace(/\.[^./]*$/, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
  if (words === '') return 'file';
  return /^\p{N}/u.test(words) ? `t_${words}` : words;
}

function untaken(name: string, taken: ReadonlySet<string>): string {
  let [free, count] = [name, 1];
  while (taken.has(free) || (free === FIRST_NAME && taken.size > 0)) free = `${name}_${(count += 1)}`;
  return free;
}

/** True if the query may refer to the table. Other tables are not opened. */
export function isNamed(query: string, table: string): boolean {
  return query.toLowerCase().includes(table);
}
