import { countOf } from '../../../lib/format/count-of.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';

type Props = { bins: readonly { from: number; to: number; count: number }[] };

/** Histogram of example lengths in tokens. */
export function TokenHistogram({ bins }: Props) {
  const highest = Math.max(1, ...bins.map((bin) => bin.count));
  if (bins.length === 0) return null;
  return (
    <figure>
      <figcaption className="mb-2 font-medium text-compact">Length of the examples</figcaption>
      <ul className="flex h-24 items-end gap-1">
        {bins.map(({ from, to, count }) => {
          const text = `${countOf(count, 'example')} of ${formatNumber(from)} to ${countOf(to, 'token')}`;
          return (
            <li
              key={from}
              title={text}
              className="min-h-px flex-1 rounded-t bg-accent-line"
              style={{ height: `${(100 * count) / highest}%` }}
            >
              <span className="sr-only">{text}</span>
            </li>
          );
        })}
      </ul>
      <div aria-hidden className="mt-1 flex justify-between text-muted text-xs tabular-nums">
        <span>{countOf(bins[0]?.from ?? 0, 'token')}</span>
        <span>{countOf(bins.at(-1)?.to ?? 0, 'token')}</span>
      </div>
    </figure>
  );
}
