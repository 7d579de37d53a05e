import { type RowDifferences, rowDifferences } from '@bakehouse/contract/data-files';
import * as z from 'zod';
import { OutOfLimits, runConfined } from '../../../platform/confined/run-confined.ts';
import type { Context } from '../../../platform/context.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import { withBlobFiles } from '../../../platform/storage/with-blob-file.ts';
import type { FileRow } from '../../assets/queries.ts';
import { findPair } from '../../assets/revisions/find-pair.ts';
import { findFilesOf } from '../../assets/revisions/read-tree.ts';
import { hasRows, unpackedName } from '../data-file.ts';
import type { RowsPair } from './find-row-differences.ts';

const PROGRAM = new URL('./compare-rows-program.ts', import.meta.url);
/** How long the comparison may take. DuckDB ends it by itself; the limits end what does not listen. */
const SECONDS_MAX = 30;
const limits = { kind: 'query', cpuSeconds: 120, wallMs: 60_000, heapMb: 1024, waitingMax: 4 } as const;

const answer = z.union([
  z.object({ found: rowDifferences }),
  z.object({ problem: z.string() }),
  z.object({ isTooMuch: z.literal(true) }),
]);

type Asked = {
  assetId: string;
  path: string;
  from?: string | undefined;
  to: string;
  signal?: AbortSignal | undefined;
};

/**
 * Which rows of a data file two commits do not share. What cannot be compared is said as `problem`. Throws
 * AppError('not_found') for commits and files that are not there, 'unavailable' for a user who waits for several, and the
 * signal's reason.
 */
export async function compareRows(ctx: Context, { path, signal, ...wanted }: Asked): Promise<RowDifferences> {
  const { asset, from, to } = await findPair(ctx, wanted);
  if (!hasRows(path) || unpackedName(path) !== path)
    throw refused('path', 'Rows can be compared of csv, tsv, jsonl, json, txt and parquet files');
  const find = async (number: number): Promise<FileRow | undefined> =>
    (await findFilesOf(ctx.db, { assetId: asset.id, number, paths: [path] }))[0];
  const [before, after] = [await find(from.number), await find(to.number)];
  if (!before && !after)
    throw new AppError('not_found', { publicMessage: `There is no file ${path}`, param: 'path' });
  const files = [before, after].filter((file) => file !== undefined);
  const input: Omit<RowsPair, 'folder'> = {
    name: path,
    before: before ? 'before' : null,
    after: after ? 'after' : null,
    seconds: SECONDS_MAX,
  };
  const names = [input.before, input.after].filter((name) => name !== null);
  const output = await withBlobFiles(ctx, files, (localPaths) =>
    runConfined(
      ctx.sandbox,
      {
        program: PROGRAM,
        files: localPaths.map((localPath, at) => ({ localPath, as: names[at] ?? '' })),
        input,
      },
      { ...limits, userId: ctx.caller.userId, signal },
    ),
  ).catch((cause: unknown) => {
    if (!(cause instanceof OutOfLimits)) throw cause;
    return { isTooMuch: true };
  });
  const said = answer.parse(output);
  if ('found' in said) return said.found;
  return notComparable(
    'problem' in said
      ? said.problem
      : `Comparing ${path} takes too much time or memory. Download both to compare them.`,
  );
}

function notComparable(problem: string): RowDifferences {
  return {
    problem,
    columns: [],
    added_columns: [],
    removed_columns: [],
    key_column: null,
    rows_before: 0,
    rows_after: 0,
    added_count: 0,
    removed_count: 0,
    changed_count: 0,
    added: [],
    removed: [],
    changed: [],
  };
}
