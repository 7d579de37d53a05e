import type { ColumnStatistics, RowFilter } from '@bakehouse/contract/data-files';
import { countOf } from '../../../../lib/format/count-of.ts';
import { formatNumber, withMinus } from '../../../../lib/format/format-number.ts';

/** Formats 1234.5678 as '1,234.57'; uses exponents for very large and very small numbers. */
export function shortNumber(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e12 || size < 1e-3)) return withMinus(value.toExponential(2));
  return formatNumber(value, { maximumFractionDigits: size < 1 ? 4 : 2 });
}

/** Returns the unit of a column's histogram; empty for numbers. */
function unitOf({ type }: Pick<ColumnStatistics, 'type'>): string {
  return type === 'text' ? ' characters' : type === 'list' ? ' items' : '';
}

/** True for a text column with few distinct values: they are shown instead of text lengths. */
export function isChoice({
  type,
  distinct,
  frequent,
}: Pick<ColumnStatistics, 'type' | 'distinct' | 'frequent'>): boolean {
  return type === 'text' && distinct === frequent.length;
}

/** Returns the summary below a column's name: '12 to 640 characters', '0.5 to 99', '3 values'. */
export function rangeText(column: ColumnStatistics): string {
  const range = column.numbers ?? column.lengths;
  if (column.type === 'empty') return 'empty';
  if (!range || isChoice(column)) return distinctText(column);
  const [min, max] = [shortNumber(range.min), shortNumber(range.max)];
  return `${min === max ? min : `${min} to ${max}`}${unitOf(column)}`;
}

/** Returns '3 values' or 'about 12,000 values'. */
export function distinctText({ distinct, distinct_is_more: isMore, filled }: ColumnStatistics): string {
  return isMore
    ? `about ${countOf(Math.min(rounded(distinct), filled), 'value')}`
    : countOf(distinct, 'value');
}

/** Rounds to two digits, the precision of the estimate. */
function rounded(count: number): number {
  return Number(count.toPrecision(2));
}

/** Returns 'minutes: 0 to 7', 'answer: 12 to 40 long', 'flour: rye', 'flour: empty'. */
export function filterText({ column, of, min, max, value }: RowFilter): string {
  if (of === 'nothing') return `${column}: empty`;
  if (value !== undefined) return `${column}: ${value}`;
  const ends = [...new Set([min, max].map((end) => (end === undefined ? '' : shortNumber(end))))].filter(
    Boolean,
  );
  return `${column}: ${ends.join(' to ')}${of === 'length' ? ' long' : ''}`;
}

/** Returns '100%' or '98.5%'; never 100% if values are missing, nor 0% if any exist. */
export function filledText({ filled }: Pick<ColumnStatistics, 'filled'>, rows: number): string {
  if (rows === 0) return '–';
  const percent = (100 * filled) / rows;
  if (filled < rows && percent > 99.9) return 'over 99.9%';
  if (filled > 0 && percent < 0.1) return 'under 0.1%';
  return `${formatNumber(percent, { maximumFractionDigits: 1 })}%`;
}

/** Returns the label of a histogram bar: '12 to 20 characters: 34 rows'. */
export function binText(
  column: Pick<ColumnStatistics, 'type'>,
  { from, to, count }: ColumnStatistics['histogram'][number],
): string {
  const [first, last] = [shortNumber(from), shortNumber(to)];
  return `${first === last ? first : `${first} to ${last}`}${unitOf(column)}: ${countOf(count, 'row')}`;
}
