import { cx } from '../../../lib/cx.ts';
import { expertShares, outlineOf } from './expert-shares.ts';

/** Smaller bars would be invisible. */
const TOP_MIN = 0.25;

type Props = {
  /** One row per completed step. */
  rows: readonly (readonly number[])[];
  /** Total number of steps. */
  steps: number;
};

/** The weight of each expert over the steps; fills from left to right during generation. */
export function ExpertWeights({ rows, steps }: Props) {
  const shares = expertShares(rows);
  const most = Math.max(...shares.map(({ share }) => share));
  const top = Math.max(TOP_MIN, ...shares.flatMap(({ weights }) => weights));
  return (
    <table className="w-full border-collapse text-compact">
      <caption className="pb-2 text-left text-muted text-xs">
        The weight of each expert over the steps, and its share of the picture
      </caption>
      <thead className="sr-only">
        <tr>
          <th scope="col">Expert</th>
          <th scope="col">Weight over the steps</th>
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        {shares.map(({ expert, share, weights }) => (
          <tr key={expert} className={share === most ? 'text-ink' : 'text-muted'}>
            <th
              scope="row"
              className={cx('w-20 py-0.5 text-left', share === most ? 'font-medium' : 'font-normal')}
            >
              Expert {expert}
            </th>
            <td className="p-0">
              <svg
                aria-hidden
                viewBox={`0 0 ${Math.max(steps, rows.length)} 1`}
                preserveAspectRatio="none"
                className={cx(
                  'block h-5 w-full border-line border-b',
                  share === most ? 'text-accent' : 'text-control-line',
                )}
              >
                <path d={outlineOf(weights, top)} fill="currentColor" />
              </svg>
            </td>
            <td className={cx('w-14 text-right tabular-nums', share === most && 'font-medium')}>
              {Math.round(share * 100)}%
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
