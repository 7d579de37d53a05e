import type { ColumnStatistics, RowFilter } from '@bakehouse/contract/data-files';
import { cx } from '../../../../lib/cx.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { binText, isChoice } from './column-sentences.ts';

type Props = {
  column: ColumnStatistics;
  /** Called when a bar is pressed, to show its rows. */
  onFilter?: ((filter: RowFilter) => void) | undefined;
  className?: string;
};

type Bar = { count: number; text: string; filter: RowFilter };

/** Distribution of a column's numbers or lengths; otherwise its most frequent values. */
export function SpreadBars({ column, onFilter, className }: Props) {
  const bars = barsOf(column);
  const highest = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <ul className={cx('flex gap-px', className)}>
      {bars.map(({ count, text, filter }, at) => {
        const bar = (
          <span
            className={cx(
              'block w-full rounded-t-xs bg-accent-line',
              count > 0 && 'min-h-0.5',
              onFilter && count > 0 && 'group-hover:bg-accent',
            )}
            style={{ height: `${(100 * count) / highest}%` }}
          />
        );
        return (
          <li key={at} title={text} className="flex min-w-0.5 max-w-6 flex-1 items-end">
            {onFilter && count > 0 ? (
              <button
                type="button"
                aria-label={`Show rows with ${text}`}
                className="group flex h-full w-full items-end"
                onClick={() => onFilter(filter)}
              >
                {bar}
              </button>
            ) : (
              <>
                {bar}
                <span className="sr-only">{text}</span>
              </>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function barsOf(column: ColumnStatistics): Bar[] {
  if (column.histogram.length === 0 || isChoice(column)) {
    return column.frequent.map(({ value, count }) => ({
      count,
      text: `${value}: ${formatNumber(count)}`,
      filter: { column: column.name, of: 'value', value },
    }));
  }
  const of = column.numbers ? 'value' : 'length';
  return column.histogram.map((bin) => ({
    count: bin.count,
    text: binText(column, bin),
    filter: { column: column.name, of, min: bin.from, max: bin.to },
  }));
}
