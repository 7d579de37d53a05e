import type { Run } from '@bakehouse/contract/runs';
import type { SharedRun } from '@bakehouse/contract/share-links';
import { selectCurve } from '../../engine/reports/select-curve.ts';
import { AppError } from '../../platform/errors.ts';
import { listHeldOutAnswers } from '../training/held-out/list-held-out-answers.ts';
import { findOwnRun } from '../training/runs/find-own-run.ts';
import { toRun } from '../training/runs/to-run.ts';
import type { Shared } from './find-shared.ts';
import { describeSamples } from './shared-samples.ts';
import { mayShowRows, nameMadeFrom } from './sources.ts';

/** More than a chart has pixels. */
const POINTS_MAX = 1000;

/** What of a run's summary is shown. */
const FIGURES = [
  ...['eval_loss', 'eval_loss_base', 'eval_reward', 'eval_reward_base'],
  ...['best_step', 'train_loss', 'train_loss_end', 'steps'],
];

/** What a link shows of a training run: how well it has learned, and not what from, what it cost or how it was configured. */
export async function describeRun(shared: Shared): Promise<SharedRun> {
  const { ownerCtx, id, userId, maker } = shared;
  const found = await findOwnRun(ownerCtx.db, { runId: id, userId });
  const run = toRun(ownerCtx.config, found.run, found.workload);
  if (run.kind === 'export') throw new AppError('not_found', { publicMessage: 'Run not found' });
  const { kind: trains, title, state, step, steps_total, elapsed_seconds, created_at } = run;
  return {
    kind: 'run',
    ...{ trains, title, maker, step, steps_total, elapsed_seconds, created_at },
    // As the owner's page says it: it trains, though its first step is not done.
    state: state === 'starting' && run.phase === 'training' ? 'running' : state,
    made_from: await nameMadeFrom(ownerCtx, { base: run.base_model, dataset: run.dataset }),
    summary: run.summary && figuresOf(run.summary),
    points: await selectCurve(ownerCtx.db, id, { max: POINTS_MAX }),
    held_out_answers: run.kind === 'text' ? await findAnswers(shared, run) : null,
    samples: run.kind === 'pictures' ? await describeSamples(shared, id) : null,
  };
}

function figuresOf(summary: NonNullable<Run['summary']>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(summary).filter(
      (figure): figure is [string, number] => FIGURES.includes(figure[0]) && typeof figure[1] === 'number',
    ),
  );
}

/** Of a run that was measured by a file of its own the rows are of that. */
async function findAnswers(
  { ownerCtx }: Shared,
  { run_id: id, dataset, validation }: Extract<Run, { kind: 'text' }>,
): Promise<SharedRun['held_out_answers']> {
  if (!(await mayShowRows(ownerCtx, [dataset, ...(validation ? [validation] : [])]))) return null;
  return (await listHeldOutAnswers(ownerCtx.db, [id])).get(id) ?? null;
}
