import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type * as contract from '@bakehouse/contract/hub/datasets-server';
import { ONLY_CONFIG } from '@bakehouse/contract/hub/datasets-server';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { name as quoted } from '../duckdb/quote.ts';
import { readTableRows } from '../sql/read-table-rows.ts';
import { runSql } from '../sql/run-sql.ts';
import { openDataset, type Split } from './open-dataset.ts';

const config = ONLY_CONFIG;
const nothing = { pending: [], failed: [] };

export async function listSplits(
  ctx: Context,
  dataset: string,
): Promise<ResponseOf<typeof contract.listSplits>> {
  const { splits } = await openDataset(ctx, dataset);
  return { splits: splits.map(({ name }) => ({ dataset, config, split: name })), ...nothing };
}

/** What can be asked of a dataset: all of it, where rows of a split can be read. */
export async function checkDataset(
  ctx: Context,
  dataset: string,
  signal: AbortSignal,
): Promise<ResponseOf<typeof contract.checkDataset>> {
  const { assetId, splits } = await openDataset(ctx, dataset);
  let hasRows = false;
  for (const { table } of splits) {
    const query = `FROM ${quoted(table.name)}`;
    const asked = { assetId, table: table.name, query, offset: 0, limit: 1, signal };
    const problem = await runSql(ctx, asked).then(() => null, unreadable);
    hasRows = problem === null;
    if (hasRows) break;
  }
  return { preview: hasRows, viewer: hasRows, search: hasRows, filter: hasRows, statistics: hasRows };
}

/** The files that are Parquet as they are. */
export async function listParquetFiles(
  ctx: Context,
  dataset: string,
): Promise<ResponseOf<typeof contract.listParquetFiles>> {
  const { assetId, splits } = await openDataset(ctx, dataset);
  const files = splits.flatMap(({ name, table }) =>
    parquetOf(table.files).map(({ path, sizeBytes: size }) => ({
      ...{ dataset, config, split: name },
      url: `${ctx.config.publicUrl}/api/v1/asset/${assetId}/files/${path.split('/').map(encodeURIComponent).join('/')}`,
      filename: path.split('/').at(-1) ?? path,
      size,
    })),
  );
  return { parquet_files: files, ...nothing, partial: false };
}

/** How many rows, columns and bytes a dataset has, and each of its splits. All of its rows are counted; a split that cannot be read is named with the reason. */
export async function measureDataset(
  ctx: Context,
  dataset: string,
  signal: AbortSignal,
): Promise<ResponseOf<typeof contract.readDatasetSize>> {
  const { assetId, splits } = await openDataset(ctx, dataset);
  const measured = [];
  const failed = [];
  for (const split of splits) {
    const asked = { assetId, table: split.table.name, offset: 0, limit: 1, signal };
    const found = await readTableRows(ctx, asked).catch(unreadable);
    const splitName = { dataset, config, split: split.name };
    if (found instanceof AppError) {
      failed.push({ ...splitName, error: { error: found.publicMessage } });
      continue;
    }
    measured.push({
      ...splitName,
      num_columns: found.features.length,
      ...bytesOf(split),
      num_rows: found.num_rows_total,
      estimated_num_rows: null,
    });
  }
  const total = {
    num_bytes_original_files: sum(measured.map((one) => one.num_bytes_original_files)),
    num_bytes_parquet_files: sum(measured.map((one) => one.num_bytes_parquet_files)),
    num_bytes_memory: sum(measured.map((one) => one.num_bytes_memory)),
    num_rows: sum(measured.map((one) => one.num_rows)),
    estimated_num_rows: null,
  };
  const columns = Math.max(0, ...measured.map((one) => one.num_columns));
  return {
    size: {
      dataset: { dataset, ...total },
      configs: measured.length > 0 ? [{ dataset, config, num_columns: columns, ...total }] : [],
      splits: measured,
    },
    pending: [],
    failed,
    partial: false,
  };
}

/** What a split that cannot be read is answered with. Any other error is thrown. */
function unreadable(error: unknown): AppError {
  if (error instanceof AppError && error.code === 'invalid_request') return error;
  throw error;
}

function bytesOf({ table: { files } }: Split) {
  const bytes = sum(files.map(({ sizeBytes }) => sizeBytes));
  return {
    num_bytes_original_files: bytes,
    num_bytes_parquet_files: sum(parquetOf(files).map(({ sizeBytes }) => sizeBytes)),
    // Nothing is kept of it: in memory it is what its files are.
    num_bytes_memory: bytes,
  };
}

function parquetOf<F extends { path: string }>(files: readonly F[]): F[] {
  return files.filter(({ path }) => /\.parquet$/i.test(path));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
