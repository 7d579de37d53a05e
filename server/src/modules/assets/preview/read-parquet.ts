import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  asyncBufferFromFile,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { AppError } from '../../../platform/errors.ts';
import type { Table } from './table.ts';

/** Compressed bytes of the row groups that one look may touch. */
const READ_BYTES_MAX = 128n * 1024n * 1024n;

/** What Node unpacks; Snappy is in the library. A page may not unpack to more than it says. */
const compressors: Compressors = {
  GZIP: (input, outputLength) => gunzipSync(input, { maxOutputLength: outputLength }),
  BROTLI: (input, outputLength) => brotliDecompressSync(input, { maxOutputLength: outputLength }),
  ZSTD: (input, outputLength) => zstdDecompressSync(input, { maxOutputLength: outputLength }),
};

/**
 * The rows `offset` to `offset + limit` of a Parquet file, and how many it has. Throws
 * AppError('invalid_request') when it is damaged, or packed or laid out so that it cannot be read here.
 */
export async function readParquet(
  localPath: string,
  name: string,
  page: { offset: number; limit: number },
): Promise<Table & { totalRows: number }> {
  try {
    const file = await asyncBufferFromFile(localPath);
    const metadata = await parquetMetadataAsync(file);
    const totalRows = Number(metadata.num_rows);
    const columns = parquetSchema(metadata).children.map((child) => child.element.name);
    const rowStart = Math.min(page.offset, totalRows);
    const rowEnd = Math.min(page.offset + page.limit, totalRows);
    refuseLargeGroups(metadata, rowStart, rowEnd);
    const rows =
      rowStart < rowEnd ? await parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors }) : [];
    return {
      columns,
      totalRows,
      rows: (async function* () {
        for (const [at, values] of rows.entries()) yield { line: rowStart + at + 1, values };
      })(),
    };
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError('invalid_request', {
      publicMessage: `${name} cannot be read as Parquet: ${reason}`,
      param: 'path',
      cause,
    });
  }
}

function refuseLargeGroups(metadata: FileMetaData, rowStart: number, rowEnd: number): void {
  let groupStart = 0;
  let bytes = 0n;
  for (const group of metadata.row_groups) {
    const groupEnd = groupStart + Number(group.num_rows);
    if (groupStart < rowEnd && groupEnd > rowStart) {
      for (const column of group.columns) bytes += column.meta_data?.total_compressed_size ?? 0n;
    }
    groupStart = groupEnd;
  }
  if (bytes > READ_BYTES_MAX) {
    throw new AppError('invalid_request', {
      publicMessage:
        'The row groups of this file are too large to be looked at here. Download it to see its rows.',
      param: 'path',
    });
  }
}
