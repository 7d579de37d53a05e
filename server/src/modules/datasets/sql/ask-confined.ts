import * as z from 'zod';
import { OutOfLimits } from '../../../platform/confined/run-confined.ts';
import type { Context } from '../../../platform/context.ts';
import { refused } from '../../../platform/errors.ts';
import type { SharedFile } from '../../../platform/sandbox/share-files.ts';
import { withBlobFiles } from '../../../platform/storage/with-blob-file.ts';
import { FIRST_NAME, isNamed, type Table } from '../duckdb/name-tables.ts';
import type { Query } from './answer-query.ts';
import { type AskedRevision, findTables, type StoredFile } from './find-tables.ts';

export const PROGRAM = new URL('./answer-query-program.ts', import.meta.url);

/** Time limit of a query. */
const SECONDS_MAX = 30;
/** DuckDB interrupts a query itself; these limits stop an unresponsive query. */
const queryLimits = { kind: 'query', cpuSeconds: 120, wallMs: 60_000, heapMb: 1024, waitingMax: 4 } as const;

/** A query of a dataset, of the newest revision by default. Aborting the signal stops it. */
export type AskedQuery = AskedRevision & {
  query: string;
  signal?: AbortSignal | undefined;
};

const refusal = z.object({ refused: z.string() });

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
 * Passes the files of the tables that a query names to a confined process that runs the query. Throws
 * AppError('invalid_request') with DuckDB's message for a rejected or failed query and for exceeded limits;
 * 'unavailable' if the user has too many requests waiting; the errors of `findTables`; and the signal's
 * reason.
 */
export async function askConfined<T>(
  ctx: Context,
  { query, signal, ...revision }: AskedQuery,
  run: (confined: Confined) => Promise<{ answer: unknown; result: T }>,
): Promise<T> {
  const { tables } = await findTables(ctx, revision);
  const meant = tablesOf(tables, query);
  const stored = [...new Set(meant.flatMap(({ files }) => files))];
  const asOf = new Map(stored.map((file, at) => [file, shownName(file.path, at)]));
  const asked = meant.map(({ name, files }) => ({
    name,
    files: files.map((file) => ({ as: asOf.get(file) ?? '', path: file.path })),
  }));
  const { answer, result } = await withBlobFiles(ctx, stored, (localPaths) =>
    run({
      work: {
        program: PROGRAM,
        files: localPaths.map((localPath, at) => ({ localPath, as: [...asOf.values()][at] ?? '' })),
        input: { tables: asked, seconds: SECONDS_MAX, query },
        scratch: true,
      },
      limits: { ...queryLimits, userId: ctx.caller.userId, signal },
    }),
  ).catch((cause: unknown) => {
    if (!(cause instanceof OutOfLimits)) throw cause;
    throw refused('query', 'The query takes too much time or memory.', cause);
  });
  const no = refusal.safeParse(answer);
  if (no.success) throw refused('query', no.data.refused);
  return result;
}

/** Returns the tables that the query may reference; the first table is available under both of its names. */
function tablesOf(tables: Table<StoredFile>[], query: string): Table<StoredFile>[] {
  const [first] = tables;
  const named = tables.filter(({ name }) => isNamed(query, name));
  const again =
    first && first.name !== FIRST_NAME && isNamed(query, FIRST_NAME) ? [{ ...first, name: FIRST_NAME }] : [];
  return [...named, ...again];
}

/** Returns a unique path for the file without characters that DuckDB treats as a glob. */
function shownName(path: string, at: number): string {
  const plain = path.replace(/[^\p{L}\p{N}._/ -]/gu, '_');
  return plain === path ? path : `${at}/${plain}`;
}
