import type { InputOf } from '@bakehouse/contract/endpoint';
import type { resumeRun as endpoint, Run } from '@bakehouse/contract/training';
import { resumeWorkload } from '../../engine/resume-workload.ts';
import type { Workload } from '../../engine/workload.ts';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { idempotent } from '../../platform/db/idempotent.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { findReadableAsset } from '../assets/find-asset.ts';
import { readRevision } from '../assets/read-revision.ts';
import { hold } from '../credits/ledger.ts';
import { runCostMicro } from './estimate-run.ts';
import { findOwnRun } from './find-own-run.ts';
import { HOLD_MS } from './meter-run.ts';
import { beginRound, type RunRow } from './queries.ts';
import { toRun } from './to-run.ts';

/**
 * Lets a cancelled or failed run go on from its last checkpoint, with credits held for what is
 * left. Throws AppError 'conflict' when it cannot go on, 'not_found' when a model or file that it
 * needs was deleted, or 'insufficient_funds'; then nothing has changed.
 */
export async function resumeRun(ctx: Context, { params }: InputOf<typeof endpoint>): Promise<Run> {
  const { userId } = ctx.caller;
  const { runId } = params;
  const call = { userId, key: ctx.idempotencyKey, operation: 'resume-run', input: params };
  await ctx.db.transaction().execute((tx) =>
    idempotent(tx, call, async () => {
      const { run, workload } = await findOwnRun(tx, { runId, userId });
      await requireSources(tx, run);
      const now = ctx.clock.now();
      const { restarts } = await resumeWorkload(tx, { id: runId, now });
      await publishChange(tx, userId, { topic: 'run', id: runId });
      const cost = runCostMicro(run.priceId, secondsLeft(workload), run.devices);
      const amountMicro = cost > 0n ? cost : 1n;
      const expiresAt = new Date(now.getTime() + HOLD_MS);
      const { holdId } = await hold(tx, {
        userId,
        amountMicro,
        kind: 'fine_tuning',
        description: `Fine-tuning of ${run.title}`,
        references: {
          asset_name: run.title,
          model_id: run.modelAssetId,
          dataset_id: run.dataset.assetId,
          run_id: runId,
        },
        expiresAt,
        idempotencyKey: `run:${runId}:${restarts}`,
      });
      await beginRound(tx, run, workload.activeSeconds, { id: holdId, micro: amountMicro, expiresAt });
      return { id: runId };
    }),
  );
  const { run, workload } = await findOwnRun(ctx.db, { runId, userId });
  return toRun(run, workload);
}

/** What it reads and makes may have been deleted since. */
async function requireSources(
  tx: Transaction,
  { userId, modelAssetId, base, dataset }: RunRow,
): Promise<void> {
  await findReadableAsset(tx, { assetId: modelAssetId, userId });
  await readRevision(tx, { ...base, userId });
  await readRevision(tx, { ...dataset, userId });
}

/** At the speed that it had; as estimated where it made no step. */
function secondsLeft({ step, stepsTotal, activeSeconds, expectedSeconds }: Workload): number {
  if (step === 0 || activeSeconds === 0) return expectedSeconds ?? 0;
  return (activeSeconds / step) * Math.max(0, stepsTotal - step);
}
