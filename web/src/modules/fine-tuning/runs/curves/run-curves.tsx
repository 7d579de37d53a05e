import type { Run } from '@bakehouse/contract/runs';
import { useState } from 'react';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Callout } from '../../../../ui/callout.tsx';
import { Card } from '../../../../ui/card.tsx';
import { Chart } from '../../../../ui/chart.tsx';
import type { ChartProps } from '../../../../ui/chart-plot.ts';
import { Checkbox } from '../../../../ui/checkbox.tsx';
import { EmptyState } from '../../../../ui/empty-state.tsx';
import { QueryView } from '../../../../ui/query-view.tsx';
import { Segmented } from '../../../../ui/segmented.tsx';
import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';
import { useRunMetrics } from '../run-calls.ts';
import { curvesOf, type Point } from './curves.ts';
import { bestHeldOut, overfittingSince } from './held-out.ts';

const smoothings = { none: 0, some: 0.6, much: 0.9 } as const;
type Smoothing = keyof typeof smoothings;

const LOSS_HEIGHT = 280;
const REWARD_HEIGHT = 180;
const SMALL_HEIGHT = 130;

const rateAndNorm = [
  { title: 'Learning rate', name: 'learning_rate', smoothed: false },
  { title: 'Gradient norm', name: 'grad_norm', smoothed: true },
] as const;

const rewards = [
  {
    title: 'Reward accuracy',
    name: 'reward_accuracy',
    label: 'Share of rows in which the better answer leads, by step',
  },
  { title: 'Reward margin', name: 'reward_margin', label: 'Lead of the better answers by step' },
] as const;

/** GRPO charts: reward, answer length, and divergence from the base model. */
const paid = [
  { title: 'Reward', name: 'reward', label: 'Mean reward of the answers by step' },
  { title: 'Answer tokens', name: 'answer_tokens', label: 'Mean answer length in tokens by step' },
  { title: 'KL divergence', name: 'kl', label: 'KL divergence from the base model by step' },
] as const;

/** Prefix of metrics for individual rewards. */
const EACH_REWARD = 'reward/';

/** Exports have no curves. */
type TrainingKind = Exclude<Run['kind'], 'export'>;

const smallCharts = {
  text: [...rateAndNorm, { title: 'Tokens per second', name: 'tokens_per_second', smoothed: true }],
  pictures: [...rateAndNorm, { title: 'Seconds per step', name: 'seconds_a_step', smoothed: true }],
} as const satisfies Record<TrainingKind, unknown>;

/** The curves of a run, updated while it trains. */
export function RunCurves({ runId, kind, ended }: { runId: string; kind: TrainingKind; ended: boolean }) {
  return (
    <QueryView
      query={useRunMetrics(runId)}
      failed="The curves could not be loaded"
      pending={
        <LoadingRegion>
          <PendingCurves />
        </LoadingRegion>
      }
      isEmpty={({ points }) => points.length === 0 && ended}
      empty={
        <Card>
          <EmptyState title="No curves" description="This run ended before its first step." />
        </Card>
      }
    >
      {({ points }) => <Curves points={points} kind={kind} ended={ended} />}
    </QueryView>
  );
}

/** Placeholder: one large chart and three small ones. */
export function PendingCurves() {
  return (
    <>
      <Skeleton className="mb-3 ml-auto h-9 w-72 max-w-full" />
      <Skeleton className="mb-5 h-88 rounded-xl" />
      <div className="grid gap-5 md:grid-cols-3">
        {smallCharts.text.map(({ name }) => (
          <Skeleton key={name} className="h-48 rounded-xl" />
        ))}
      </div>
    </>
  );
}

type CurvesProps = { points: readonly Point[]; ended: boolean };

/** The losses by step, with smaller charts below. */
function Curves({ points, kind, ended }: CurvesProps & { kind: TrainingKind }) {
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
      <LossCard {...{ points, ended, logScale }} smoothing={smoothings[smoothing]} />
      <RewardCards points={points} ended={ended} smoothing={smoothings[smoothing]} />
      <div className="mt-5 grid gap-5 md:grid-cols-3">
        {smallCharts[kind].map(({ title, name, smoothed }) => (
          <Card key={name} title={title}>
            <Curve
              label={`${title} by step`}
              {...curvesOf(points, [{ name, label: title }])}
              height={SMALL_HEIGHT}
              smoothing={smoothed ? smoothings[smoothing] : 0}
              logScale={logScale}
              ended={ended}
            />
          </Card>
        ))}
      </div>
    </section>
  );
}

type LossCardProps = CurvesProps & { smoothing: number; logScale: boolean };

/** Training and held-out loss in one chart; they diverge when the model overfits. */
function LossCard({ points, ended, ...look }: LossCardProps) {
  const best = bestHeldOut(points);
  const since = overfittingSince(points);
  return (
    <Card title="Loss">
      <Curve
        label="Training and held-out loss by step"
        {...trainedAndHeldOut(points, 'loss')}
        height={LOSS_HEIGHT}
        mark={best ? { x: best.step, label: `Best held-out loss ${best.loss.toFixed(3)}` } : undefined}
        ended={ended}
        {...look}
      />
      {since && (
        <Callout tone="warn" className="mt-4" title={`Held-out loss has risen since step ${since.step}`}>
          The training loss still fell, so the model is memorizing its training data. Try fewer epochs, more
          rows or a lower learning rate.
        </Callout>
      )}
    </Card>
  );
}

/** Margin of the better answers over the worse ones, relative to the base model, for DPO and KTO. */
function RewardCards({ points, ended, smoothing }: CurvesProps & { smoothing: number }) {
  const names = new Set(points.flatMap(({ values }) => Object.keys(values)));
  const charts = [rewards, paid].find(([{ name }]) => names.has(name) || names.has(`eval_${name}`));
  if (!charts) return null;
  const each = [...names].filter((name) => name.startsWith(EACH_REWARD));
  return (
    <div className="mt-5 grid gap-5 md:grid-cols-2">
      {each.length > 0 && (
        <Card title="Each reward">
          <Curve
            label="Mean of each reward before its weight, by step"
            {...curvesOf(
              points,
              each.map((name) => ({ name, label: nameOfReward(name) })),
            )}
            height={REWARD_HEIGHT}
            smoothing={smoothing}
            ended={ended}
          />
        </Card>
      )}
      {charts.map(({ title, name, label }) => (
        <Card key={name} title={title}>
          <Curve
            label={label}
            {...trainedAndHeldOut(points, name)}
            height={REWARD_HEIGHT}
            smoothing={smoothing}
            ended={ended}
          />
        </Card>
      ))}
    </div>
  );
}

/** 'reward/json_schema' -> 'JSON Schema', 'reward/pattern_2' -> 'Pattern 2'. */
function nameOfReward(name: string): string {
  const words = name.slice(EACH_REWARD.length).replaceAll('_', ' ');
  return words.replace('json schema', 'JSON Schema').replace(/^[a-z]/, (first) => first.toUpperCase());
}

/** Evaluations aren't smoothed: they are few, and already averages. */
function trainedAndHeldOut(points: readonly Point[], name: string) {
  const { x, series } = curvesOf(points, [
    { name, label: 'Training' },
    { name: `eval_${name}`, label: 'Held out' },
  ]);
  return { x, series: series.map((one) => ({ ...one, exact: one.label === 'Held out' })) };
}

/** A chart, or why it is still empty. */
function Curve({ ended, ...chart }: ChartProps & { ended: boolean }) {
  if (chart.series.length > 0) return <Chart {...chart} hoverX={(step) => `Step ${formatNumber(step)}`} />;
  return (
    <p className="flex items-center justify-center text-center text-muted" style={{ height: chart.height }}>
      {ended ? 'This run ended before its first step.' : 'Waiting for the first step.'}
    </p>
  );
}
