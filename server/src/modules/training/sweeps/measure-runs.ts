import { CHOOSING_EXAMPLES_MIN } from '@bakehouse/contract/fine-tune-numbers';
import type { Objective } from '@bakehouse/contract/limits';
import type { SweepParameter } from '@bakehouse/contract/sweep-axes';
import type { Sweep, SweptRun } from '@bakehouse/contract/sweeps';
import type { MetricPoint } from '../../../engine/reports/select-points-with.ts';

/* What the runs of a sweep are compared by. Everything here is pure. */

/** What runs report of their held-out rows, and how many of these there are. */
export const HELD_OUT = ['eval_loss', 'eval_reward', 'held_out_rows'] as const;

/** Where runs differ in these their losses are of different formulas, and say nothing of each other. */
const OF_THE_LOSS: readonly SweepParameter[] = [
  'beta',
  'sft_weight',
  'desirable_weight',
  'undesirable_weight',
];

/** What the best run is chosen by. */
export function measureOf(objective: Objective, parameters: readonly SweepParameter[]): Sweep['measure'] {
  if (objective === 'grpo') return 'eval_reward';
  return parameters.some((name) => OF_THE_LOSS.includes(name)) ? 'eval_reward_accuracy' : 'eval_loss';
}

/** What was measured of a run since its first step: before that it is the base model's. */
export function heldOutOf(points: readonly MetricPoint[], objective: Objective): SweptRun['held_out'] {
  const [name, sign] = objective === 'grpo' ? ['eval_reward', -1] : ['eval_loss', 1];
  const measured = points.filter(({ step, values }) => step > 0 && values[name] !== undefined);
  const valueOf = ({ values }: MetricPoint) => values[name] ?? Number.NaN;
  const [first] = measured;
  const last = measured.at(-1);
  if (!first || !last) return null;
  const best = measured.reduce(
    (so_far, one) => (sign * valueOf(one) < sign * valueOf(so_far) ? one : so_far),
    first,
  );
  return {
    best: valueOf(best),
    best_step: best.step,
    last: valueOf(last),
    reward_accuracy: best.values.eval_reward_accuracy ?? null,
  };
}

/** How many rows a run has held out, as it has said. */
export function heldOutRows(points: readonly MetricPoint[]): number | null {
  return points.find(({ values }) => values.held_out_rows !== undefined)?.values.held_out_rows ?? null;
}

type Candidate = Pick<SweptRun, 'run_id' | 'state' | 'held_out'>;

/**
 * The best of the runs that have made a model, the first of equal ones. Null: there is none, or so few rows are held out that a
 * difference says nothing.
 */
export function chooseBest(
  runs: readonly Candidate[],
  measure: Sweep['measure'],
  rows: number | null,
): string | null {
  if (rows === null || rows < CHOOSING_EXAMPLES_MIN) return null;
  const ranked = runs.flatMap(({ run_id, state, held_out }) => {
    const value = measure === 'eval_reward_accuracy' ? held_out?.reward_accuracy : held_out?.best;
    if (state !== 'completed' || value == null) return [];
    return [{ run_id, loss: measure === 'eval_loss' ? value : -value }];
  });
  const least = Math.min(...ranked.map(({ loss }) => loss));
  return ranked.find(({ loss }) => loss === least)?.run_id ?? null;
}
