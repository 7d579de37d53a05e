import type { ColumnStatistics } from '@bakehouse/contract/data-files';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { LoadedTable } from '../../duckdb/load-table.ts';
import { readValue } from '../../duckdb/open-database.ts';
import type { ColumnSql } from './column-sql.ts';
import type { Measured } from './measure-columns.ts';

const BINS = 12;

/**
 * Maximum distinct values that a query holds in memory. `CELLS_MAX` limits the cells that are counted in
 * total.
 */
const AT_ONCE_MAX = 1_000_000;

const CELLS_MAX = 4_000_000;

/**
 * Maximum distinct values of a column that are counted one by one. Above it, only their number is returned.
 */
const DISTINCT_MAX = 1_000;

/** The first query only estimates the number of distinct values, so count columns up to this estimate. */
const MAYBE_TOLD_APART = 1_500;

const FREQUENT = 5;

/** Longer texts are shown up to this length, and compared by a hash. */
export const VALUE_CHARS = 100;

type Counted = Pick<ColumnStatistics, 'distinct' | 'distinct_is_more' | 'histogram' | 'frequent'>;

/**
 * Adds a histogram of numbers or lengths to each measured column, and the most frequent values if there are
 * few distinct ones.
 */
export async function countValues(
  database: DuckDBConnection,
  { from, rows }: Pick<LoadedTable, 'from'> & { rows: number },
  columns: readonly ColumnSql[],
  measured: readonly Measured[],
): Promise<Counted[]> {
  const asked = columns.map((sql, at) => {
    const { numbers, lengths, distinct, isWhole } = measured[at] as Measured;
    const range = numbers ?? lengths;
    return {
      sql,
      value: numbers ? sql.number : sql.length,
      bins: range && binsOf(range.min, range.max, isWhole),
      isFew: distinct <= MAYBE_TOLD_APART,
    };
  });
  const counts = asked.map(({ sql, value, bins, isFew }) => {
    const spread = bins ? `histogram(CASE WHEN ${sql.filled} THEN ${binIndex(value, bins)} END)` : 'NULL';
    return `${spread}, ${isFew ? `histogram(CASE WHEN ${sql.filled} THEN ${valueKey(sql.text)} END)` : 'NULL'}`;
  });
  const found = await database.runAndReadAll(`SELECT ${counts.join(', ')} FROM ${from}`);
  const values = found.convertRows(readValue)[0] ?? [];
  const toldOf = (at: number) => (values[2 * at + 1] ?? []) as Entry[];
  const isMore = asked.map(({ isFew }, at) => !isFew || toldOf(at).length > DISTINCT_MAX);
  const many = asked.filter((_, at) => isMore[at]);
  const exact = await countDistinct(
    database,
    { from, rows },
    many.map(({ sql }) => sql),
  );
  return asked.map((column, at) => {
    const { bins } = column;
    const { filled, distinct: about } = measured[at] as Measured;
    const counted = exact?.[many.indexOf(column)];
    const estimate = Math.min(Math.max(about, DISTINCT_MAX), filled);
    return {
      distinct: isMore[at] ? (counted ?? estimate) : toldOf(at).length,
      distinct_is_more: isMore[at] === true && counted === undefined,
      histogram: bins ? toHistogram(bins, (values[2 * at] ?? []) as Entry[]) : [],
      frequent: isMore[at] ? [] : mostFrequent(toldOf(at)),
    };
  });
}

/** Entry of a map as DuckDB's converter returns it. */
type Entry = { key: string | number; value: number };

/** Returns the index of the bin that contains the number. */
function binIndex(value: string, { min, width, count }: Bins): string {
  if (count === 1) return `CASE WHEN ${value} IS NOT NULL THEN 0 END`;
  return `least(${count - 1}, floor(${value} / '${width}'::DOUBLE - '${min / width}'::DOUBLE))::INTEGER`;
}

function valueKey(value: string): string {
  return `CASE WHEN length(${value}) <= ${VALUE_CHARS} THEN ${value} ELSE left(${value}, ${VALUE_CHARS}) || '…' || md5(${value}) END`;
}

function toHistogram(bins: Bins, spread: Entry[]): Counted['histogram'] {
  const counts = new Map(spread.map(({ key, value }) => [Number(key), value]));
  return Array.from({ length: bins.count }, (_, at) => ({
    ...edgesOf(bins, at),
    count: counts.get(at) ?? 0,
  }));
}

function mostFrequent(told: Entry[]): Counted['frequent'] {
  return told
    .filter(({ value }) => value > 1)
    .sort((a, b) => b.value - a.value)
    .slice(0, FREQUENT)
    .map(({ key, value }) => ({ value: shown(String(key)), count: value }));
}

/** Strips the hash suffix. */
function shown(key: string): string {
  return key.replace(/^(.{100}…).*$/su, '$1');
}

/** Returns the number of distinct values of each column. Returns null if counting would take too long. */
async function countDistinct(
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

/** Up to twelve ranges of equal width. */
type Bins = { min: number; max: number; width: number; count: number; isWhole: boolean };

/** Returns the histogram ranges between the smallest and the largest number. */
function binsOf(min: number, max: number, allWhole: boolean): Bins {
  if (min === max) return { min, max, width: 1, count: 1, isWhole: allWhole };
  const isWhole = allWhole && max - min < Number.MAX_SAFE_INTEGER;
  // Halve the values first, because `max - min` may overflow.
  const width = isWhole ? Math.ceil((max - min + 1) / BINS) : (max / 2 - min / 2) / (BINS / 2);
  return { min, max, width, count: isWhole ? Math.ceil((max - min + 1) / width) : BINS, isWhole };
}

/** Returns the bounds of a range, by its zero-based index. */
function edgesOf({ min, max, width, count, isWhole }: Bins, at: number): { from: number; to: number } {
  if (count === 1) return { from: min, to: max };
  const from = min + at * width;
  return { from, to: Math.min(max, isWhole ? from + width - 1 : from + width) };
}
