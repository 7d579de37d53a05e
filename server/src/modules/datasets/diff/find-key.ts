import type { DuckDBConnection } from '@duckdb/node-api';
import type { LoadedTable } from '../duckdb/load-table.ts';

/** A version as DuckDB has it: `place` are the columns that are compared, in the order of the answer. */
export type Side = { name: 'before' | 'after'; table: LoadedTable; place: number[] };

/** Columns that are tried, those first whose names say that they tell rows apart. */
const TRIED_MAX = 8;
const SAYS_SO = /(^|[_ -])(id|uuid|guid|key|index|idx)$/i;

/**
 * The place of the column that tells rows apart: filled and different in each row of both versions, and with the most rows
 * that have changed otherwise. Null where none does. Leaves `key_before` and `key_after` with the value of each row.
 */
export async function findKey(
  database: DuckDBConnection,
  sides: Side[],
  columns: string[],
): Promise<number | null> {
  // One column alone is all of the row: with the same value it is the same row.
  if (columns.length < 2) return null;
  const left = 'SELECT exists(FROM removed) AND exists(FROM added)';
  if ((await database.runAndReadAll(left)).getRows()[0]?.[0] !== true) return null;
  const places = columns.map((_, at) => at);
  const said = places.filter((at) => SAYS_SO.test(columns[at] ?? ''));
  const tried = [...new Set([...said, ...places])].slice(0, TRIED_MAX);
  let best: { at: number; pairs: number } | null = null;
  for (const at of tried) {
    const pairs = await countPairs(database, sides, at);
    if (pairs > (best?.pairs ?? 0)) best = { at, pairs };
    // One that is called so is taken before any other.
    if (best?.at === at && said.includes(at)) break;
  }
  if (best) for (const side of sides) await keepKey(database, side, best.at);
  return best?.at ?? null;
}

/** How many changed rows the column would find; 0 where it does not tell rows apart. */
async function countPairs(database: DuckDBConnection, sides: Side[], at: number): Promise<number> {
  for (const side of sides) {
    await keepKey(database, side, at);
    const counted = await database.runAndReadAll(
      `SELECT count(*) = count(k) AND count(*) = count(DISTINCT k) FROM key_${side.name}`,
    );
    if (counted.getRows()[0]?.[0] !== true) return 0;
  }
  const found = await database.runAndReadAll(
    'SELECT count(*) FROM (FROM key_before SEMI JOIN removed USING (r)) JOIN (FROM key_after SEMI JOIN added USING (r)) USING (k)',
  );
  return Number(found.getRows()[0]?.[0]);
}

async function keepKey(database: DuckDBConnection, { name, table, place }: Side, at: number): Promise<void> {
  const value = `c${place[at]}::VARCHAR`;
  await database.run(
    `CREATE OR REPLACE TABLE key_${name} AS SELECT r, CASE WHEN ${value} = '' THEN NULL ELSE hash(${value}) END AS k FROM ${table.from}`,
  );
}
