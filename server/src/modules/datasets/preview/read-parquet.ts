import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import {
  asyncBufferFromFile,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { decompressLz4, decompressLz4Raw } from 'hyparquet-compressors';
import { COLUMNS_MAX, refuseDuplicateColumns, type Table } from './table.ts';
import { Unreadable } from './unreadable.ts';

/** Rows of a file that is looked through: what one look reads is unpacked at once. */
export const ROWS_LOOKED_AT_MAX = 20_000;

/** Compressed bytes of the row groups that one look may touch. */
const READ_BYTES_MAX = 128n * 1024n * 1024n;
/** Values of one column in one row group. All of them may stand in one page, which is unpacked whole. */
const GROUP_VALUES_MAX = 16n * 1024n * 1024n;

/**
 * Node's own are faster; Snappy is in the library. A page may not unpack to more than it says: to
 * nothing where all of its values are null.
 */
const compressors: Compressors = {
  GZIP: unlessEmpty((input, outputLength) => gunzipSync(input, { maxOutputLength: outputLength })),
  BROTLI: unlessEmpty((input, outputLength) =>
    brotliDecompressSync(input, { maxOutputLength: outputLength }),
  ),
  ZSTD: unlessEmpty((input, outputLength) => zstdDecompressSync(input, { maxOutputLength: outputLength })),
  LZ4: unlessEmpty(decompressLz4),
  LZ4_RAW: unlessEmpty(decompressLz4Raw),
};

type Decompressor = NonNullable<Compressors[keyof Compressors]>;

/** None of them can make nothing of what they are given. */
function unlessEmpty(decompress: Decompressor): Decompressor {
  return (input, outputLength) => (outputLength === 0 ? new Uint8Array() : decompress(input, outputLength));
}

/**
 * The rows `offset` to `offset + limit` of a Parquet file, and how many it has. Throws Unreadable
 * when it is damaged, or packed or laid out so that it cannot be read here. What it says about
 * itself may be untrue: then the limits of the process end the reading.
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
    const names = parquetSchema(metadata).children.map((child) => child.element.name);
    refuseDuplicateColumns(names, name);
    const columns = { shown: names.slice(0, COLUMNS_MAX), count: names.length };
    const rowStart = Math.min(page.offset, totalRows);
    const rowEnd = Math.min(page.offset + page.limit, totalRows);
    refuseLargeGroups(metadata, new Set(columns.shown), rowStart, rowEnd);
    const rows =
      rowStart < rowEnd
        ? await parquetReadObjects({ file, metadata, columns: columns.shown, rowStart, rowEnd, compressors })
        : [];
    return {
      columns,
      totalRows,
      rows: (async function* () {
        for (const [at, row] of rows.entries()) {
          const cells = new Map(Object.entries(row));
          yield { line: rowStart + at + 1, values: columns.shown.map((column) => cells.get(column)) };
        }
      })(),
    };
  } catch (cause) {
    if (cause instanceof Unreadable) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Unreadable(`${name} cannot be read as Parquet: ${reason}`, { cause });
  }
}

function refuseLargeGroups(
  metadata: FileMetaData,
  shown: Set<string>,
  rowStart: number,
  rowEnd: number,
): void {
  let groupStart = 0;
  let bytes = 0n;
  let values = 0n;
  for (const group of metadata.row_groups) {
    const groupEnd = groupStart + Number(group.num_rows);
    if (groupStart < rowEnd && groupEnd > rowStart) {
      for (const { meta_data: column } of group.columns) {
        if (!column || !shown.has(column.path_in_schema[0] ?? '')) continue;
        bytes += column.total_compressed_size;
        if (column.num_values > values) values = column.num_values;
      }
    }
    groupStart = groupEnd;
  }
  if (bytes > READ_BYTES_MAX || values > GROUP_VALUES_MAX) {
    throw new Unreadable(
      'The row groups of this file are too large to be shown here. Download it to see its rows.',
    );
  }
}
