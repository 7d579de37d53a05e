import { CHOOSING_EXAMPLES_MIN, fineTuneNumbers } from '@bakehouse/contract/fine-tune-numbers';
import { type Combination, nameCombination, type SweepParameter } from '@bakehouse/contract/sweep-axes';
import type { ListedSweep, Sweep, SweptRun } from '@bakehouse/contract/sweeps';
import { countOf } from '../../../lib/format/count-of.ts';
import { hasEnded } from '../runs/run-state.ts';

/* What the page of a sweep says and draws. Everything here is pure. */

/** The values of a run that are its own. */
export function combinationOf({ parameters }: Sweep, run: SweptRun): Combination {
  return Object.fromEntries(parameters.map((name) => [name, run.parameters[name]]));
}

/** 'Learning rate 0.0002, LoRA rank 8'. */
export function nameRun(sweep: Sweep, run: SweptRun): string {
  return nameCombination(combinationOf(sweep, run));
}

export function labelOf(parameter: SweepParameter): string {
  return fineTuneNumbers[parameter].label;
}

/** The values of a parameter over all runs, ascending. */
export function valuesOf({ runs }: Pick<Sweep, 'runs'>, parameter: SweepParameter): number[] {
  return [...new Set(runs.flatMap((run) => run.parameters[parameter] ?? []))].sort(
    (one, other) => one - other,
  );
}

const measures = {
  eval_loss: { name: 'held-out loss', best: 'lowest held-out loss' },
  eval_reward: { name: 'held-out reward', best: 'highest held-out reward' },
  eval_reward_accuracy: { name: 'reward accuracy', best: 'highest reward accuracy' },
} as const satisfies Record<Sweep['measure'], { name: string; best: string }>;

/** 'Held-out loss': of the figures that runs are compared by. */
export function measureLabel(measure: Sweep['measure']): string {
  const { name } = measures[measure];
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** What a run is compared by; null: nothing was measured. */
export function measuredOf({ measure }: Pick<Sweep, 'measure'>, { held_out }: SweptRun): number | null {
  return (measure === 'eval_reward_accuracy' ? held_out?.reward_accuracy : held_out?.best) ?? null;
}

/** The runs with the best first, and those of which nothing was measured last. */
export function ranked(sweep: Sweep): SweptRun[] {
  const sign = sweep.measure === 'eval_loss' ? 1 : -1;
  const rankOf = (run: SweptRun) => {
    const measured = measuredOf(sweep, run);
    return measured === null ? Number.POSITIVE_INFINITY : sign * measured;
  };
  const difference = (one: number, other: number) => (one === other ? 0 : one - other);
  return sweep.runs.toSorted((one, other) => difference(rankOf(one), rankOf(other)));
}

/** How good each run is among all that were measured: 0 to 1, the best; null: nothing was measured. */
export function strengths(sweep: Sweep): Map<string, number | null> {
  const sign = sweep.measure === 'eval_loss' ? -1 : 1;
  const measured = sweep.runs.map((run) => ({ id: run.run_id, value: measuredOf(sweep, run) }));
  const known = measured.flatMap(({ value }) => (value === null ? [] : [sign * value]));
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return new Map(
    measured.map(({ id, value }) => {
      if (value === null) return [id, null];
      return [id, most === least ? 1 : (sign * value - least) / (most - least)];
    }),
  );
}

/** The word on the badge. */
export function sweepState({ runs }: Pick<ListedSweep, 'runs'>): SweptRun['state'] {
  const states = runs.map(({ state }) => state);
  const moving = (['running', 'starting', 'stopping', 'queued'] as const).find((one) => states.includes(one));
  if (moving === 'queued' && runs.some(hasEnded)) return 'running';
  return (
    moving ??
    (['completed', 'cancelled', 'failed'] as const).find((one) => states.includes(one)) ??
    'completed'
  );
}

/** '4 of 6 runs completed, 1 failed.' */
export function progressSentence({ runs }: Pick<ListedSweep, 'runs'>): string {
  const count = (state: SweptRun['state']) => runs.filter((run) => run.state === state).length;
  const others = (['failed', 'cancelled'] as const).flatMap((state) =>
    count(state) > 0 ? [`${count(state)} ${state}`] : [],
  );
  return `${[`${count('completed')} of ${countOf(runs.length, 'run')} completed`, ...others].join(', ')}.`;
}

/** How the best run is chosen, or why none is. */
export function choiceSentence(sweep: Sweep): string {
  const { runs, held_out_rows: rows, measure } = sweep;
  if (rows === 0) return 'No rows are held out: no run is named the best.';
  if (rows !== null && rows < CHOOSING_EXAMPLES_MIN)
    return `${rows === 1 ? 'Only 1 row is' : `Only ${rows} rows are`} held out, too few to tell runs apart: none is named the best.`;
  const best = runs.find(({ run_id }) => run_id === sweep.best_run_id);
  const isOver = runs.every(hasEnded);
  if (best)
    return `${nameRun(sweep, best)} is the best${isOver ? '' : ' so far'}: it has the ${measures[measure].best} of all completed runs, on the same ${countOf(rows ?? 0, 'held-out row')}.`;
  if (!isOver)
    return `The run with the ${measures[measure].best} is named the best. All runs are measured on the same held-out rows.`;
  return runs.some(({ state }) => state === 'completed')
    ? `No completed run has a ${measures[measure].name}: none is named the best.`
    : 'No run has completed: none is named the best.';
}
