import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findRepository } from '../../assets/repositories/find-repository.ts';
import type { Table } from '../duckdb/name-tables.ts';
import { findTables, type StoredFile } from '../sql/find-tables.ts';

/** What the only table of a dataset is called, as the hub calls what is in no split. */
const ONLY_SPLIT = 'train';

/** A table of a dataset, as the clients of the dataset server name it. */
export type Split = { name: string; table: Table<StoredFile> };

/**
 * The splits of a dataset: one for each table of its data files. Throws AppError('not_found') unless the caller may read
 * it.
 */
export async function openDataset(
  ctx: Context,
  dataset: string,
): Promise<{ assetId: string; splits: Split[] }> {
  const assetId = await findId(ctx, dataset);
  const { tables } = await findTables(ctx, { assetId }).catch((error: unknown) => {
    // Without files it has no splits.
    if (error instanceof AppError && error.code === 'conflict') return { tables: [] };
    throw error;
  });
  const [only, ...others] = tables;
  const splits =
    only && others.length === 0
      ? [{ name: ONLY_SPLIT, table: only }]
      : tables.map((table) => ({ name: table.name, table }));
  return { assetId, splits };
}

/** One of them. Throws AppError('not_found') for one that is not there. */
export async function openSplit(
  ctx: Context,
  { dataset, split }: { dataset: string; split: string },
): Promise<{ assetId: string; split: Split }> {
  const { assetId, splits } = await openDataset(ctx, dataset);
  const found = splits.find(({ name }) => name === split);
  if (!found)
    throw new AppError('not_found', { publicMessage: `There is no split ${split}`, param: 'split' });
  return { assetId, split: found };
}

/** The dataset that is called `namespace/name`, or by its own id. */
async function findId(ctx: Context, dataset: string): Promise<string> {
  const [namespace = '', name, ...more] = dataset.includes('/') ? dataset.split('/') : ['id', dataset];
  const found =
    name === undefined || more.length > 0
      ? null
      : await findRepository(ctx.db, { type: 'dataset', namespace, name, userId: ctx.caller.userId });
  if (found !== null && found !== 'gated') return found.id;
  throw new AppError('not_found', { publicMessage: 'Dataset not found', param: 'dataset' });
}
