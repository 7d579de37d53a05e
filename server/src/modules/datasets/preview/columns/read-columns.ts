import type { ColumnStatistics, FileColumns } from '@bakehouse/contract/data-files';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type LoadedTable, loadTable } from '../../duckdb/load-table.ts';
import { openDatabase } from '../../duckdb/open-database.ts';
import { readValue } from '../../duckdb/read-value.ts';
import { isPicture } from '../pictures/picture-bytes.ts';
import { NAME_CHARS_MAX } from '../read-preview.ts';
import { cut } from '../table.ts';
import { columnSql } from './column-sql.ts';
import { countValues } from './count-values.ts';
import { measureColumns } from './measure-columns.ts';
import { type Tabulated, tabulateCells } from './tabulate-cells.ts';

/** Columns per query: their aggregates must fit in memory together. */
const COLUMNS_AT_ONCE = 50;

/**
 * Returns statistics of a data file's columns over all rows. Throws Unreadable like the preview. The file is
 * untrusted: run this with limits.
 */
export async function readColumns(file: { localPath: string; name: string }): Promise<FileColumns> {
  const database = await openDatabase([file.localPath]);
  const table = await loadTable(database, file);
  try {
    const { from, kind, isWhole, rowCount } = table;
    const { names, types } = table.columns;
    const columns = types.map((type, at) => columnSql(kind, `c${at}`, type));
    return await findPictures(
      database,
      table,
      await describe(database, { from, kind, isWhole, rowCount, names, columns }),
    );
  } catch (error) {
    if (!(table.kind === 'json' && isOutOfMemory(error))) throw table.refusal(error);
  }
  const empty = await openDatabase([]);
  return describe(empty, { kind: 'json', ...(await tabulateCells(empty, file)) });
}

/** DuckDB's own memory limit; the process survives it. */
function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Out of Memory Error');
}

type Described = Tabulated & Pick<LoadedTable, 'kind'>;

async function describe(database: DuckDBConnection, table: Described): Promise<FileColumns> {
  const all = table.columns;
  const columns: ColumnStatistics[] = [];
  let rows = table.rowCount ?? 0;
  for (let start = 0; start < all.length; start += COLUMNS_AT_ONCE) {
    const part = all.slice(start, start + COLUMNS_AT_ONCE);
    const measured = await measureColumns(database, table, part);
    rows = measured.rows;
    const counted = await countValues(database, { from: table.from, rows }, part, measured.columns);
    for (const [at, { nulls, filled, type, numbers, lengths }] of measured.columns.entries()) {
      const name = cut(table.names[start + at] ?? '', NAME_CHARS_MAX);
      columns.push({
        name,
        type,
        filled,
        nulls,
        numbers,
        lengths,
        ...(counted[at] as (typeof counted)[number]),
      });
    }
  }
  return { rows, is_whole: table.isWhole, columns };
}

/** Columns of bytes, or of objects with bytes, count as pictures if their first values are pictures. */
async function findPictures(
  database: DuckDBConnection,
  table: LoadedTable,
  described: FileColumns,
): Promise<FileColumns> {
  const columns: ColumnStatistics[] = [];
  for (const [at, column] of described.columns.entries()) {
    const mayBe = table.kind === 'typed' && (column.type === 'bytes' || column.type === 'object');
    const first = mayBe
      ? await database.runAndReadAll(`SELECT c${at} FROM ${table.from} WHERE c${at} IS NOT NULL LIMIT 1`)
      : null;
    const [value] = first?.convertRows(readValue)[0] ?? [];
    columns.push(isPicture(value) ? { ...column, type: 'picture', frequent: [] } : column);
  }
  return { ...described, columns };
}
