import type { SweepParameter } from '@bakehouse/contract/sweep-axes';
import type { Sweep, SweptRun } from '@bakehouse/contract/sweeps';
import { Link } from '@tanstack/react-router';
import { Star } from 'lucide-react';
import { cx } from '../../../lib/cx.ts';
import { displayState } from '../runs/run-state.ts';
import { labelOf, measuredOf, measureLabel, nameRun, strengths, valuesOf } from './describe-sweep.ts';

/** Per cent of the accent behind the best: the ink on it stays readable in either theme. */
const STRONGEST = 45;

type Props = { sweep: Sweep; parameters: readonly [SweepParameter, SweepParameter] };

/** What was measured of each pair of values: a table whose cells are the stronger in colour, the better they are. */
export function SweepHeatmap({ sweep, parameters: [down, across] }: Props) {
  const columns = valuesOf(sweep, across);
  const strength = strengths(sweep);
  return (
    <div className="overflow-x-auto">
      <table className="w-full border-separate border-spacing-1 text-center text-[0.8125rem] tabular-nums">
        <caption className="sr-only">
          {measureLabel(sweep.measure)} by {labelOf(down)} and {labelOf(across)}
        </caption>
        <thead>
          <tr>
            <td />
            <th scope="colgroup" colSpan={columns.length} className="pb-1 font-medium text-muted text-xs">
              {labelOf(across)}
            </th>
          </tr>
          <tr>
            <th scope="col" className="pr-2 text-left font-medium text-muted text-xs">
              {labelOf(down)}
            </th>
            {columns.map((value) => (
              <th key={value} scope="col" className="font-medium">
                {value}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {valuesOf(sweep, down).map((row) => (
            <tr key={row}>
              <th scope="row" className="pr-2 text-left font-medium">
                {row}
              </th>
              {columns.map((column) => {
                const run = sweep.runs.find(
                  ({ parameters }) => parameters[down] === row && parameters[across] === column,
                );
                return (
                  <Cell key={column} sweep={sweep} run={run} strength={run && strength.get(run.run_id)} />
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type CellProps = { sweep: Sweep; run: SweptRun | undefined; strength: number | null | undefined };

function Cell({ sweep, run, strength }: CellProps) {
  if (!run) return <td />;
  const measured = measuredOf(sweep, run);
  const isBest = run.run_id === sweep.best_run_id;
  return (
    <td className="p-0">
      <Link
        to="/runs/$id"
        params={{ id: run.run_id }}
        title={nameRun(sweep, run)}
        style={
          typeof strength === 'number'
            ? {
                background: `color-mix(in oklab, var(--accent) ${Math.round(STRONGEST * strength)}%, var(--subtle))`,
              }
            : undefined
        }
        className={cx(
          'flex h-14 min-w-20 items-center justify-center gap-1 rounded-lg px-2 hover:underline',
          measured === null && 'border border-line border-dashed text-muted',
          isBest && 'font-semibold ring-2 ring-accent',
        )}
      >
        {isBest && <Star aria-label="Best" className="size-3.5 shrink-0 fill-current" />}
        {measured === null ? displayState(run) : measured.toFixed(3)}
      </Link>
    </td>
  );
}
