import { formatBytes } from '@bakehouse/contract/labels';
import type { Run, TextRun } from '@bakehouse/contract/runs';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { aboutDuration, formatDuration } from '../../../lib/format/format-time.ts';
import { displayState, type Stage } from './run-state.ts';

/*
 * Texts for the badge, phase and time of a run, derived from the same response so that they are consistent.
 * The server counts and charges time from the end of the first step. Until then, the run counts as starting,
 * also during the evaluation of the base model.
 */

/** Runtime phase in which both models answer held-out questions; not charged. */
const ASKING = 'asking both models';
/** Runtime phase in which an export's answers are compared with the fine-tune's; not charged. */
const COMPARING = 'comparing answers';

/** Display texts of the runtime's phases. */
const phases: Record<string, string> = {
  'pulling inputs': 'Fetching its files',
  'loading encoders': 'Loading the encoders',
  'reading data': 'Reading the dataset',
  'encoding pictures': 'Encoding the pictures',
  'encoding captions': 'Encoding the captions',
  'drawing samples': 'Drawing the first samples',
  'loading model': 'Loading the model',
  training: 'Training',
  evaluating: 'Evaluating',
  merging: 'Merging the adapter into its base model',
  [COMPARING]: 'Comparing its answers with the fine-tune',
  [ASKING]: 'Comparing both models',
  saving: 'Saving the model',
  uploading: 'Uploading the model',
};

/** Returns the estimated memory and, once completed, the peak usage; null except for text models. */
export function memoryText({ memory_bytes, summary }: Pick<Run, 'memory_bytes' | 'summary'>): string | null {
  if (memory_bytes === null) return null;
  const estimated = `${formatBytes(memory_bytes)} estimated`;
  const peak = summary?.peak_memory_bytes;
  return typeof peak === 'number' ? `${formatBytes(peak)} at its peak, ${estimated}` : estimated;
}

/** Returns the confirmation for cancelling a run. */
export const cancelQuestion = ({ kind, step }: Pick<Run, 'kind' | 'step'>) => ({
  title: kind === 'export' ? 'Cancel this export?' : 'Cancel this run?',
  description:
    step === 0
      ? 'It has not completed a step yet, so there is nothing to save. You are not charged, and the hold is released.'
      : kind === 'export'
        ? 'Nothing is saved. You pay for the time used so far, and the rest of the hold is released.'
        : 'Its progress is saved. You pay for the time used so far, and the rest of the hold is released.',
  action: kind === 'export' ? 'Cancel export' : 'Cancel run',
});

/** Returns the current phase. */
export function phaseText({ state, phase, reason, step }: Stage & Pick<Run, 'reason' | 'step'>): string {
  if (state === 'stopping') return step === 0 ? 'Cancelling' : 'Saving its progress';
  if (state === 'queued') return reason || 'Waiting for its turn';
  if (state === 'starting' && phase === 'evaluating') return 'Measuring the base model first';
  if (state === 'starting' && phase === 'training') {
    return step === 0 ? 'Running the first step' : 'Continuing from its last checkpoint';
  }
  // A newer runtime may have unknown phases.
  return phases[phase ?? ''] ?? sentence((phase === null && reason) || state);
}

/** Returns '2 min 5 s so far, about 40 s left', or why time isn't counted yet. */
export function timeText(
  run: Stage & Pick<Run, 'elapsed_seconds' | 'remaining_seconds' | 'started_at' | 'step'>,
): string {
  const { state, step, elapsed_seconds: elapsed, remaining_seconds: remaining } = run;
  const before = elapsed >= 1 ? `${formatDuration(elapsed)} so far` : null;
  if (state === 'queued' || (state === 'stopping' && step === 0)) return before ?? 'Not started yet';
  if (state === 'starting') return join(before, `charged from the ${step === 0 ? 'first' : 'next'} step on`);
  if (run.phase === ASKING || run.phase === COMPARING) return join(before, 'this part is not charged');
  return join(
    before ?? 'just started',
    state === 'stopping' || remaining === null ? null : `${aboutDuration(remaining)} left`,
  );
}

/** After this time without a report, the server stops counting time (`COUNTED_SILENCE_S`). */
const SILENCE_S_MAX = 30;

/** Advances a run's times by the seconds since it was read, while its time is counted. */
export function extrapolateRun<
  R extends Pick<Run, 'state' | 'phase' | 'elapsed_seconds' | 'remaining_seconds'>,
>(run: R, seconds: number): R {
  if (run.state !== 'running' || run.phase === ASKING || run.phase === COMPARING) return run;
  const { elapsed_seconds: elapsed, remaining_seconds: remaining } = run;
  const counted = Math.min(seconds, SILENCE_S_MAX);
  return {
    ...run,
    elapsed_seconds: elapsed + counted,
    remaining_seconds: remaining === null ? null : Math.max(0, remaining - counted),
  };
}

/** Before this time, the pace is unreliable. */
const PACE_S_MIN = 20;

type Spending = Pick<
  Run,
  | 'state'
  | 'step'
  | 'steps_total'
  | 'elapsed_seconds'
  | 'remaining_seconds'
  | 'cost_so_far'
  | 'ceiling'
  | 'stops_at_ceiling'
>;

/** Returns true if a run has reached its ceiling and continues at no cost. */
export function isBeyondCeiling(run: Spending): boolean {
  const isAtCeiling = Number(run.cost_so_far) >= Number(run.ceiling);
  return run.state === 'running' && run.step > 0 && isAtCeiling && (!run.stops_at_ceiling || isLastStep(run));
}

/** Returns true in the last step, which the server lets finish even above the ceiling. */
function isLastStep({ step, steps_total: total }: Pick<Run, 'step' | 'steps_total'>): boolean {
  return step > 0 && step >= total - 1;
}

/**
 * Returns the seconds until a run stops at its ceiling at the current pace; null if it will finish first or
 * the pace is unknown.
 */
export function secondsToCeiling(run: Spending): number | null {
  const { state, elapsed_seconds: elapsed, remaining_seconds: remaining, cost_so_far, ceiling } = run;
  if (state !== 'running' || remaining === null || elapsed < PACE_S_MIN || isLastStep(run)) return null;
  if (!run.stops_at_ceiling) return null;
  const pace = Number(cost_so_far) / elapsed;
  const seconds = (Number(ceiling) - Number(cost_so_far)) / pace;
  return seconds < remaining ? Math.max(0, seconds) : null;
}

/** Returns 'Step 1,200 of 12,000'; undefined until the total is known. */
export function stepText({
  step,
  steps_total: total,
}: Pick<Run, 'step' | 'steps_total'>): string | undefined {
  return total > 0 ? `Step ${formatNumber(step)} of ${formatNumber(total)}` : undefined;
}

/** Returns the current epoch and the total: '2 of 3'. */
export function epochText({
  step,
  steps_total: total,
  parameters: { epochs },
}: Pick<TextRun, 'step' | 'steps_total'> & { parameters: Pick<TextRun['parameters'], 'epochs'> }): string {
  const done = total === 0 ? 0 : Math.floor((step / total) * epochs);
  return `${formatNumber(Math.min(epochs, done + 1))} of ${formatNumber(epochs)}`;
}

/** Returns the title of the browser tab: progress or outcome, then the name. */
export function tabTitle(run: Stage & Pick<Run, 'title' | 'progress'>): string {
  const state = displayState(run);
  return `${state === 'running' ? `${Math.floor(run.progress)}%` : sentence(state)} · ${run.title}`;
}

function join(...parts: (string | null)[]): string {
  return sentence(parts.filter((part) => part !== null).join(', '));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
