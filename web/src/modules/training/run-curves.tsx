import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { getRunMetrics } from '@bakehouse/contract/training';
import { useState } from 'react';
import { Card } from '../../ui/card.tsx';
import { Chart } from '../../ui/chart.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useRunMetrics } from './api.ts';
import { curvesOf } from './curves.ts';

const smoothings = { none: 0, some: 0.6, much: 0.9 } as const;
type Smoothing = keyof typeof smoothings;

const charts = [
  { title: 'Training loss', name: 'loss', label: 'Loss', smoothed: true, from: 'step' },
  { title: 'Held-out loss', name: 'eval_loss', label: 'Held-out loss', smoothed: false, from: 'evaluation' },
  { title: 'Learning rate', name: 'learning_rate', label: 'Learning rate', smoothed: false, from: 'step' },
  { title: 'Gradient norm', name: 'grad_norm', label: 'Gradient norm', smoothed: true, from: 'step' },
] as const;

/** The curves of a run, growing while it learns. */
export function RunCurves({ runId, ended }: { runId: string; ended: boolean }) {
  return (
    <QueryView
      query={useRunMetrics(runId)}
      failed="The curves could not be loaded"
      pending={
        <LoadingRegion className="grid gap-5 lg:grid-cols-2">
          <Skeleton className="h-72" />
          <Skeleton className="h-72" />
        </LoadingRegion>
      }
      isEmpty={({ points }) => points.length === 0 && ended}
      empty={
        <Card>
          <EmptyState title="No curves" description="This run ended before its first step." />
        </Card>
      }
    >
      {({ points }) => <Curves points={points} ended={ended} />}
    </QueryView>
  );
}

type Points = ResponseOf<typeof getRunMetrics>['points'];

function Curves({ points, ended }: { points: Points; ended: boolean }) {
  const [smoothing, setSmoothing] = useState<Smoothing>('some');
  const [logScale, setLogScale] = useState(false);
  return (
    <section aria-label="Curves">
      <div className="mb-3 flex flex-wrap items-center justify-end gap-x-5 gap-y-2">
        <Checkbox checked={logScale} onChange={setLogScale} label="Logarithmic" />
        <Segmented<Smoothing>
          label="Smoothing"
          value={smoothing}
          onChange={setSmoothing}
          options={[
            { value: 'none', label: 'Raw' },
            { value: 'some', label: 'Smooth' },
            { value: 'much', label: 'Smoother' },
          ]}
        />
      </div>
      <div className="grid gap-5 lg:grid-cols-2">
        {charts.map(({ title, name, label, smoothed, from }) => {
          const { x, series } = curvesOf(points, [{ name, label }]);
          return (
            <Card key={title} title={title}>
              {series.length > 0 ? (
                <Chart
                  label={`${title} by step`}
                  x={x}
                  series={series}
                  smoothing={smoothed ? smoothings[smoothing] : 0}
                  logScale={logScale}
                  hoverX={(step) => `Step ${step}`}
                />
              ) : (
                <p className="flex h-[220px] items-center justify-center text-muted">
                  {ended ? `This run ended before its first ${from}.` : `Waiting for the first ${from}.`}
                </p>
              )}
            </Card>
          );
        })}
      </div>
    </section>
  );
}
