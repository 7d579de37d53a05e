import type { Sweep, SweptRun } from '@bakehouse/contract/sweeps';
import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { Card } from '../../../ui/card.tsx';
import { Chart } from '../../../ui/chart.tsx';
import { chartColour } from '../../../ui/chart-colour.ts';
import { overlay } from '../runs/curves/curves.ts';
import { keptPlaces } from '../runs/curves/kept-places.ts';
import { runMetricsQuery } from '../runs/run-calls.ts';
import { nameRun } from './describe-sweep.ts';

const step = (x: number) => `Step ${formatNumber(x)}`;

/** The curves of the chosen runs over each other. */
export function SweepCurves({ sweep, runs }: { sweep: Sweep; runs: readonly SweptRun[] }) {
  const ids = runs.map(({ run_id }) => run_id);
  const metrics = useQueries({ queries: ids.map(runMetricsQuery) });
  const [places, setPlaces] = useState<(string | null)[]>([]);
  const kept = keptPlaces(places, ids);
  if (kept.join() !== places.join()) setPlaces(kept);
  const curves = runs.map((run, at) => ({
    label: nameRun(sweep, run),
    color: chartColour(kept.indexOf(run.run_id)),
    points: metrics[at]?.data?.points ?? [],
  }));
  const rewarded = sweep.measure === 'eval_reward';
  return (
    <>
      <Curve
        title={rewarded ? 'Reward' : 'Training loss'}
        smoothing={0.6}
        {...overlay(curves, rewarded ? 'reward' : 'loss')}
      />
      <Curve
        title={rewarded ? 'Held-out reward' : 'Held-out loss'}
        {...overlay(curves, rewarded ? 'eval_reward' : 'eval_loss')}
      />
    </>
  );
}

type CurveProps = ReturnType<typeof overlay> & { title: string; smoothing?: number };

function Curve({ title, smoothing = 0, x, series }: CurveProps) {
  return (
    <Card title={title}>
      {x.length > 0 ? (
        <Chart
          label={`${title} of the chosen runs`}
          x={x}
          series={series}
          smoothing={smoothing}
          hoverX={step}
        />
      ) : (
        <p className="flex h-55 items-center justify-center text-muted">
          {series.length > 0 ? 'The curves start at the first step.' : 'Choose runs in the table.'}
        </p>
      )}
    </Card>
  );
}
