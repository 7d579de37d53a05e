import type { ColumnStatistics } from '@bakehouse/contract/data-files';
import type { SplitColumnStatistics } from '@bakehouse/contract/hub/datasets-server';

/** What our statistics of a column are called there, and what of them is told. Pure. */
export function toSplitStatistics(
  column: ColumnStatistics,
  rows: number,
): { column_name: string; column_type: string; column_statistics: SplitColumnStatistics } {
  const missing = {
    nan_count: rows - column.filled,
    nan_proportion: rows === 0 ? 0 : round((rows - column.filled) / rows),
  };
  const range = column.numbers ?? column.lengths;
  const isLabel = !column.numbers && !column.distinct_is_more && column.distinct <= LABELS_MAX;
  const frequencies = Object.fromEntries(column.frequent.map(({ value, count }) => [value, count]));
  if (column.type === 'boolean' || (column.type === 'text' && isLabel && isTold(column))) {
    return {
      column_name: column.name,
      column_type: column.type === 'boolean' ? 'bool' : 'string_label',
      column_statistics:
        column.type === 'boolean'
          ? { ...missing, frequencies }
          : { ...missing, no_label_count: 0, no_label_proportion: 0, n_unique: column.distinct, frequencies },
    };
  }
  return {
    column_name: column.name,
    column_type: typeOf(column),
    column_statistics: {
      ...missing,
      min: range?.min ?? null,
      max: range?.max ?? null,
      mean: range?.mean ?? null,
      median: range?.median ?? null,
      std: range?.std ?? null,
      ...(range?.rounded && { rounded: true }),
      histogram:
        column.histogram.length === 0
          ? null
          : {
              hist: column.histogram.map(({ count }) => count),
              bin_edges: [...column.histogram.map(({ from }) => from), column.histogram.at(-1)?.to ?? 0],
            },
    },
  };
}

/** Texts that are no more than these are labels. */
const LABELS_MAX = 30;

/** Whether each of its values is known with its count. */
function isTold({ distinct, frequent }: ColumnStatistics): boolean {
  return frequent.length === distinct;
}

function typeOf({ type, numbers, histogram }: ColumnStatistics): string {
  if (numbers)
    return histogram.every(({ from, to }) => Number.isInteger(from) && Number.isInteger(to))
      ? 'int'
      : 'float';
  return (
    { text: 'string_text', list: 'list', date: 'datetime', number: 'float' }[type as 'text'] ?? 'string_text'
  );
}

function round(share: number): number {
  return Number(share.toFixed(5));
}
