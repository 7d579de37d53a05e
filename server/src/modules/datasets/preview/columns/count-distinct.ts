import type { DuckDBConnection } from '@duckdb/node-api';
import type { LoadedTable } from '../../duckdb/load-table.ts';
import type { ColumnSql } from './column-sql.ts';

/** Limits of the distinct values held in memory per query, and of the cells counted in total. */
const AT_ONCE_MAX = 1_000_000;
const CELLS_MAX = 4_000_000;

/** Returns the number of distinct values per column; null if counting would take too long. */
export async function countDistinct(
  database: DuckDBConnection,
  { from, rows }: Pick<LoadedTable, 'from'> & { rows: number },
  columns: readonly ColumnSql[],
): Promise<number[] | null> {
  if (rows * columns.length > CELLS_MAX) return null;
  const atOnce = Math.max(1, Math.floor(AT_ONCE_MAX / Math.max(1, rows)));
  const counts: number[] = [];
  for (let start = 0; start < columns.length; start += atOnce) {
    const asked = columns
      .slice(start, start + atOnce)
      .map(({ filled, text }) => `count(DISTINCT CASE WHEN ${filled} THEN hash(${text}) END)`);
    const found = await database.runAndReadAll(`SELECT ${asked.join(', ')} FROM ${from}`);
    counts.push(...(found.getRows()[0] ?? []).map(Number));
  }
  return counts;
}
