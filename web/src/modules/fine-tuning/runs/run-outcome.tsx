import { exportFormatLabels } from '@bakehouse/contract/exports';
import { formatBytes } from '@bakehouse/contract/labels';
import type { ExportRun, Run } from '@bakehouse/contract/runs';
import type { ReactNode } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { formatDuration } from '../../../lib/format/format-time.ts';
import { Callout } from '../../../ui/callout.tsx';
import { Money } from '../../../ui/money.tsx';
import { deviceName } from '../../machines/devices.ts';

/** The outcome of a run and its cost. */
export function RunOutcome({ run }: { run: Run }) {
  const { summary } = run;
  if (run.state === 'completed' && summary) {
    const preferred = preferenceSentence(run);
    const stopped = stoppedEarlySentence(run);
    return (
      <>
        {stopped && <p className="mb-4 text-muted">{stopped}</p>}
        {preferred && <p className="mb-4 font-medium text-base">{preferred}</p>}
        <dl className="mb-5 flex flex-wrap gap-x-5 gap-y-1 text-compact">
          {run.kind === 'export' ? <Exported run={run} /> : <Losses run={run} />}
          <Fact
            label="Duration"
            note={`on ${run.device === 'CPU' ? 'this machine’s CPU' : deviceName(run.device)}`}
          >
            {formatDuration(run.elapsed_seconds)}
          </Fact>
          <Fact
            label="Charged"
            note={
              <>
                quoted <Money bgl={run.quote.total} />
              </>
            }
          >
            {run.charged === null ? '–' : <Money bgl={run.charged} />}
          </Fact>
        </dl>
      </>
    );
  }
  return (
    <Callout tone={run.state === 'failed' ? 'bad' : 'info'} className="mb-5" title={outcomeTitle(run)}>
      {hasOwnReason(run) && `${run.reason} `}
      {howFar(run)}
      {run.charged !== null && <Charge bgl={run.charged} />}
      {run.resume_hold === null && ` ${GONE}`}
    </Callout>
  );
}

type FactProps = { label: string; note: ReactNode; children: ReactNode };

/** A figure with its label and note on one line. */
function Fact({ label, note, children }: FactProps) {
  return (
    <div className="flex flex-wrap items-baseline gap-x-1.5 text-muted tabular-nums">
      <dt>{label}</dt>
      <dd className="contents">
        <span className="font-semibold text-ink">{children}</span>
        <span>{note}</span>
      </dd>
    </div>
  );
}

/**
 * Returns in how many held-out rows the run raised the better (or good) answer more than the worse (or bad)
 * one, relative to the base model; null for runs without compared or rated answers.
 */
function preferenceSentence(run: Run): string | null {
  const accuracy = run.summary?.eval_reward_accuracy;
  if (run.kind !== 'text' || typeof accuracy !== 'number') return null;
  const share = formatNumber(accuracy, { style: 'percent', maximumFractionDigits: 0 });
  switch (run.parameters.objective) {
    case 'dpo':
      return `Preferred the better answer in ${share} of held-out rows.`;
    case 'kto':
      return `Preferred the good answer in ${share} of held-out pairs.`;
    default:
      return null;
  }
}

/** Returns the sentence about early stopping; null if the run did not stop early. */
function stoppedEarlySentence({ summary, steps_total }: Run): string | null {
  const evaluations = summary?.stopped_early;
  if (typeof evaluations !== 'number') return null;
  const at = `${formatNumber(stepsOf({ summary, steps_total }))} of ${formatNumber(steps_total)}`;
  const what = summary?.eval_reward === undefined ? 'loss did not fall' : 'reward did not rise';
  return `Stopped early at step ${at}: the held-out ${what} in ${countOf(evaluations, 'evaluation')}.`;
}

type Learned = { steps_total: number; summary: Run['summary'] };

/** Final losses of a run. */
function Losses({ run }: { run: Learned }) {
  const { summary } = run;
  return (
    <>
      {summary?.eval_reward === undefined ? (
        <Fact label="Held-out loss" note={heldOutNote(run, 'eval_loss_base')}>
          {decimals(summary?.eval_loss)}
        </Fact>
      ) : (
        <Fact label="Held-out reward" note={heldOutNote(run, 'eval_reward_base')}>
          {decimals(summary.eval_reward)}
        </Fact>
      )}
      <Fact label="Training loss" note={trainingLossNote(run)}>
        {decimals(summary?.train_loss_end ?? summary?.train_loss)}
      </Fact>
    </>
  );
}

/** The result of an export, and whether its answers match the fine-tune's. */
function Exported({ run: { summary, parameters } }: { run: ExportRun }) {
  const { prompts, equal_answers: equal, size_bytes: size } = summary ?? {};
  return (
    <>
      <Fact label="Same answers" note="word for word at temperature 0, on held-out prompts">
        {prompts ? `${equal} of ${prompts}` : '–'}
      </Fact>
      <Fact label="Size" note={exportFormatLabels[parameters.format]}>
        {typeof size === 'number' ? formatBytes(size) : '–'}
      </Fact>
    </>
  );
}

/** Shown if a run cannot be resumed: deletion is the only possible cause. */
const GONE = 'Its work was deleted after seven days, so it cannot be resumed.';

function outcomeTitle({ state, stop_reason }: Run): string {
  if (state === 'failed') return 'The run failed';
  return stop_reason === 'ceiling'
    ? 'The run reached its spending limit'
    : stop_reason === null
      ? 'The run was cancelled'
      : 'The run was stopped';
}

/** Returns the progress at the end, if training had begun. */
function howFar({ step, steps_total: total, elapsed_seconds: elapsed }: Run): string {
  if (!(step > 0 && total > 0)) return '';
  const time = elapsed >= 1 ? ` in ${formatDuration(elapsed)}` : '';
  return `It reached step ${formatNumber(step)} of ${formatNumber(total)}${time}. `;
}

/** Returns false for a run that its owner cancelled. */
function hasOwnReason({ state, reason }: Run): boolean {
  return state === 'failed' || !reason.startsWith('Cancelled');
}

function Charge({ bgl }: { bgl: string }) {
  return Number(bgl) === 0 ? (
    'You were not charged.'
  ) : (
    <>
      You were charged <Money bgl={bgl} /> for the time it took.
    </>
  );
}

/** Names the step of the kept adapter if it is not the last step, and the base model's value. */
function heldOutNote(
  { summary, steps_total }: Learned,
  ofBase: 'eval_loss_base' | 'eval_reward_base',
): string {
  const base = `base model ${decimals(summary?.[ofBase])}`;
  const step = summary?.best_step;
  return typeof step === 'number' && step !== stepsOf({ summary, steps_total })
    ? `kept from step ${step}, ${base}`
    : base;
}

/** Says over which steps the mean loss is taken: older runs stored only the mean over all steps. */
function trainingLossNote({ summary, steps_total }: Learned): string {
  const steps = stepsOf({ summary, steps_total });
  if (summary?.train_loss_end === undefined) return `mean of ${countOf(steps, 'step')}`;
  return `mean of the last ${countOf(Math.max(1, Math.floor(steps / 10)), 'step')}`;
}

/** Returns the number of steps made, which is lower after an early stop. */
function stepsOf({ summary, steps_total }: Learned): number {
  return typeof summary?.steps === 'number' ? summary.steps : steps_total;
}

function decimals(value: number | string | null | undefined): string {
  return typeof value === 'number' ? value.toFixed(3) : '–';
}
