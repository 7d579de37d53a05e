import type { ColumnStatistics } from '@bakehouse/contract/data-files';
import type { DuckDBConnection } from '@duckdb/node-api';
import * as z from 'zod';
import type { LoadedTable } from '../../duckdb/load-table.ts';
import { readValue } from '../../duckdb/open-database.ts';
import type { ColumnSql, Kind } from './column-sql.ts';

/** Above this, squares of numbers overflow, so no deviation is calculated. */
const STD_MAX = '1e150';

const figures = z.object({
  min: z.number().nullable(),
  max: z.number().nullable(),
  mean: z.union([z.number(), z.string()]).nullable(),
  median: z.number().nullable(),
  std: z.union([z.number(), z.string()]).nullable(),
});

const measured = z.object({
  filled: z.number(),
  nulls: z.number(),
  distinct: z.number(),
  kinds: z.array(z.object({ key: z.string() })).nullable(),
  numbers: figures,
  lengths: figures,
  whole: z.boolean().nullable(),
  large: z.boolean().nullable(),
});

/** Results of one query over all values of a column. */
export type Measured = Pick<ColumnStatistics, 'type' | 'filled' | 'nulls' | 'numbers' | 'lengths'> & {
  /** Approximate number of distinct values. */
  distinct: number;
  /** True if all values in the histogram are integers. */
  isWhole: boolean;
};

/** Measures columns over all rows of a table, and counts the rows. */
export async function measureColumns(
  database: DuckDBConnection,
  { from, kind }: Pick<LoadedTable, 'from' | 'kind'>,
  columns: readonly ColumnSql[],
): Promise<{ rows: number; columns: Measured[] }> {
  const parts = columns.map((column, at) => partsOf(column, at)).join(', ');
  const aggregates = columns.map((_, at) => aggregatesOf(at)).join(', ');
  const found = await database.runAndReadAll(
    `SELECT count(*), ${aggregates} FROM (SELECT ${parts} FROM ${from})`,
  );
  const [rows, ...values] = found.convertRows(readValue)[0] ?? [];
  return {
    rows: Number(rows),
    columns: values.map((value) => toMeasured(measured.parse(value), kind === 'text')),
  };
}

/** Returns SQL that computes the parts of a cell once, because several aggregates use them. */
function partsOf({ filled, kind, number, length, text, isNull }: ColumnSql, at: number): string {
  const ifFilled = (value: string) => `CASE WHEN ${filled} THEN ${value} END`;
  return (
    `${filled} AS f${at}, ${isNull} AS z${at}, ${ifFilled(kind)} AS k${at}, ${ifFilled(number)} AS n${at}, ` +
    `${ifFilled(length)} AS l${at}, hash(${ifFilled(text)}) AS h${at}`
  );
}

function aggregatesOf(at: number): string {
  const range = (x: string) =>
    `{'min': min(${x}), 'max': max(${x}), 'mean': avg(${x}), 'median': approx_quantile(${x}, 0.5), ` +
    `'std': stddev_samp(CASE WHEN abs(${x}) < ${STD_MAX} THEN ${x} END)}`;
  return (
    `{'filled': count(*) FILTER (WHERE f${at}), 'nulls': count(*) FILTER (WHERE z${at}), ` +
    `'distinct': approx_count_distinct(CASE WHEN f${at} THEN h${at} END), 'kinds': histogram(k${at}), ` +
    `'numbers': ${range(`n${at}`)}, 'lengths': ${range(`l${at}`)}, ` +
    `'whole': bool_and(n${at} IS NULL OR (abs(n${at}) <= ${Number.MAX_SAFE_INTEGER} AND floor(n${at}) = n${at})), ` +
    `'large': bool_or(abs(n${at}) > ${Number.MAX_SAFE_INTEGER})}`
  );
}

function toMeasured(
  { filled, nulls, distinct, kinds, numbers, lengths, whole, large }: z.infer<typeof measured>,
  isCsv: boolean,
): Measured {
  const type = typeOf(
    (kinds ?? []).map(({ key }) => key as Kind),
    isCsv,
  );
  const isNumber = type === 'number';
  const hasLengths = type === 'text' || type === 'list';
  return {
    ...{ type, filled, nulls, distinct },
    numbers: isNumber ? withRounding(rangeOf(numbers), large === true) : null,
    lengths: hasLengths ? rangeOf(lengths) : null,
    isWhole: !isNumber || whole === true,
  };
}

function typeOf([first, ...others]: readonly Kind[], isCsv: boolean): ColumnStatistics['type'] {
  if (first === undefined) return 'empty';
  if (others.length === 0) return first;
  // A csv column with both numbers and texts is a text column, whose numbers are only texts that look like
  // numbers.
  return isCsv ? 'text' : 'mixed';
}

function rangeOf({ min, max, mean, median, std }: z.infer<typeof figures>): ColumnStatistics['numbers'] {
  if (min === null || max === null) return null;
  return {
    ...{ min, max },
    // The sum of very large numbers overflows.
    mean: typeof mean === 'number' ? mean : min / 2 + max / 2,
    median: median ?? min,
    std: typeof std === 'number' ? std : null,
  };
}

function withRounding(range: ColumnStatistics['numbers'], isRounded: boolean): ColumnStatistics['numbers'] {
  return range && isRounded ? { ...range, rounded: true } : range;
}
