import type { FoundRows, RowFilter } from '@bakehouse/contract/data-files';
import type { DuckDBConnection } from '@duckdb/node-api';
import {
  columnList,
  type DataFile,
  type LoadedTable,
  loadTable,
  openDataFile,
  rowValues,
} from '../../duckdb/load-table.ts';
import { readValue } from '../../duckdb/open-database.ts';
import { showRows } from '../read-preview.ts';
import { Unreadable } from '../table.ts';
import { conditionsOf, contains } from './conditions.ts';

/** Maximum duration of a search. When it ends, the search returns the rows that it has found. */
const LOOK_MS = 10_000;

export type Search = {
  /** Text that a cell must contain, ignoring case. An empty text matches every row. */
  text: string;
  /** Conditions on single columns. A row must match all of them. */
  filters: RowFilter[];
  /** The number of the first row to search. */
  offset: number;
  /** Maximum rows to return. The search ends when it has found this many. */
  limit: number;
};

type Found = { at: number; values: unknown[] };

/**
 * Returns rows of a data file that match all filters and contain the text in a shown column, from a start row
 * on. Throws Unreadable like the preview, and if the maximum duration ends before the first match. The file
 * is untrusted, so run this in a confined process.
 */
export async function searchDataFile({
  lookMs = LOOK_MS,
  ...file
}: DataFile & Search & { lookMs?: number }): Promise<FoundRows> {
  const database = await openDataFile(file);
  const table = await loadTable(database, file);
  const conditions = conditionsOf(table, file);
  const timer = Number.isFinite(lookMs) ? setTimeout(() => database.interrupt(), lookMs) : undefined;
  const { found, isEnded } = await find(database, table, file, conditions).finally(() => clearTimeout(timer));
  const last = found.at(-1);
  const values = found.map((row) => row.values);
  return {
    ...showRows(table.columns, values, file.profile?.format ?? null),
    at: found.map(({ at }) => at),
    rows_read: isEnded ? await countRows(database, table) : (last?.at ?? file.offset - 1) + 1,
    is_whole: isEnded,
    next_offset: isEnded || !last ? null : last.at + 1,
  };
}

async function find(
  database: DuckDBConnection,
  table: LoadedTable,
  { text, offset, limit }: Search,
  conditions: string[],
): Promise<{ found: Found[]; isEnded: boolean }> {
  const found: Found[] = [];
  const where = [`r >= ${offset}`, ...conditions].join(' AND ');
  const columns = table.columns.names.length === 0 ? 'r' : `r, ${columnList(table)}`;
  try {
    const result = await database.stream(`SELECT ${columns} FROM ${table.from} WHERE ${where}`);
    for (;;) {
      const chunk = await result.fetchChunk();
      if (!chunk || chunk.rowCount === 0) return { found, isEnded: true };
      for (const [at, ...cells] of chunk.convertRows(readValue)) {
        const values = rowValues(table.kind, cells);
        // The SQL condition also matches keys of nested values, so check the values again.
        if (text !== '' && !values.some((value) => contains(value, text.toLowerCase()))) continue;
        found.push({ at: Number(at), values });
        if (found.length === limit) return { found, isEnded: false };
      }
    }
  } catch (error) {
    if (!String(error).includes('INTERRUPT')) throw table.refusal(error);
    if (found.length > 0) return { found, isEnded: false };
    throw new Unreadable(
      'Nothing was found in ten seconds. Search for something more frequent, or run a SQL query.',
    );
  }
}

async function countRows(database: DuckDBConnection, table: LoadedTable): Promise<number> {
  if (table.rowCount !== null) return table.rowCount;
  const counted = await database.runAndReadAll(`SELECT count(*) FROM ${table.from}`);
  return Number(counted.getRows()[0]?.[0]);
}
