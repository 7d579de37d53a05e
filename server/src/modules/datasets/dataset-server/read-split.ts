import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type * as contract from '@bakehouse/contract/hub/datasets-server';
import type { Context } from '../../../platform/context.ts';
import { describeColumns } from '../preview/columns/describe-columns.ts';
import { readTableRows } from '../sql/read-table-rows.ts';
import { openSplit } from './open-dataset.ts';
import { toSplitStatistics } from './to-split-statistics.ts';

type SplitOf = InputOf<typeof contract.readFirstRows>['query'];
type Page = { offset: number; length: number };
type Wanted = { where?: string | undefined; orderBy?: string | undefined; text?: string | undefined };

/** Rows of a split: a page of all, or of those that are wanted. Throws what `openSplit` and `readTableRows` throw. */
export async function readSplit(
  ctx: Context,
  { dataset, split, offset, length, ...wanted }: SplitOf & Page & Wanted,
  signal: AbortSignal,
): Promise<contract.RowsAnswer> {
  const found = await openSplit(ctx, { dataset, split });
  const {
    assetId,
    split: { table },
  } = found;
  return readTableRows(ctx, { assetId, table: table.name, offset, limit: length, ...wanted, signal });
}

/** What the columns of a split hold. Of one in several files it is that of the first. */
export async function describeSplit(
  ctx: Context,
  asked: SplitOf,
  signal: AbortSignal,
): Promise<ResponseOf<typeof contract.readSplitStatistics>> {
  const { assetId, split } = await openSplit(ctx, asked);
  const { files } = split.table;
  const {
    rows,
    columns,
    is_whole: isWhole,
  } = await describeColumns(ctx, {
    assetId,
    path: files[0]?.path ?? '',
    signal,
  });
  return {
    num_examples: rows,
    statistics: columns.map((column) => toSplitStatistics(column, rows)),
    partial: !isWhole || files.length > 1,
  };
}
