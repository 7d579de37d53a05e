import type { ColumnStatistics } from '@bakehouse/contract/data-files';
import { cx } from '../../../../lib/cx.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { binText, isChoice } from './column-sentences.ts';

type Props = {
  column: Pick<ColumnStatistics, 'type' | 'distinct' | 'histogram' | 'frequent'>;
  className?: string;
};

/** How the numbers or lengths of a column are spread; of a choice, and of what has neither, the most frequent values. */
export function SpreadBars({ column, className }: Props) {
  const bars =
    column.histogram.length > 0 && !isChoice(column)
      ? column.histogram.map((bin) => ({ count: bin.count, text: binText(column, bin) }))
      : column.frequent.map(({ value, count }) => ({
          count,
          text: `${value}: ${formatNumber(count)}`,
        }));
  const highest = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <ul className={cx('flex items-end gap-px', className)}>
      {bars.map(({ count, text }, at) => (
        <li
          key={at}
          title={text}
          className={cx('min-w-0.5 max-w-6 flex-1 rounded-t-xs bg-accent-line', count > 0 && 'min-h-0.5')}
          style={{ height: `${(100 * count) / highest}%` }}
        >
          <span className="sr-only">{text}</span>
        </li>
      ))}
    </ul>
  );
}
