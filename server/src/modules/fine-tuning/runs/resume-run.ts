import type { InputOf } from '@bakehouse/contract/endpoint';
import { smallerAmount } from '@bakehouse/contract/money';
import type { resumeRun as endpoint, Run } from '@bakehouse/contract/runs';
import { resumeWorkload } from '../../../engine/request-workload.ts';
import { lockWorkload } from '../../../engine/workloads.ts';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { idempotent } from '../../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, conflict } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findReadableAsset } from '../../assets/access/find-readable-asset.ts';
import { requireRevision } from '../../assets/access/require-revision.ts';
import { lockAssetsForUse } from '../../assets/remove-asset.ts';
import { withIdleCredit } from '../../billing/usage/with-idle-credit.ts';
import { assertCeilingAbove, costSoFarMicro, resumeCeilingMicro } from '../charges/ceiling.ts';
import { resumeCostMicro, settleSeconds, unpaidMicro } from '../charges/cost.ts';
import { holdForRun } from '../charges/hold-run.ts';
import { awaitsClone } from '../cloning/hub-base.ts';
import { type RunRow, startRound } from '../queries.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { findOwnRun } from './runs.ts';
import { toRun } from './to-run.ts';

/**
 * Resumes a cancelled or failed run from its last checkpoint, and holds credits for the remaining work, up to
 * the ceiling. Throws AppError 'invalid_request' for a ceiling that is already reached, 'conflict' if the run
 * cannot be resumed, 'not_found' if a needed model or file was deleted, 'insufficient_funds' or
 * 'budget_exceeded'. After an error, nothing has changed.
 */
export async function resumeRun(
  ctx: Context,
  { usage }: Pick<TrainingParts, 'usage'>,
  { params, body }: InputOf<typeof endpoint>,
): Promise<Run> {
  const { userId } = ctx.caller;
  const { runId } = params;
  const call = { userId, key: ctx.idempotencyKey, operation: 'resume-run', input: { ...params, ...body } };
  await withIdleCredit(usage, userId, () =>
    inTransaction(ctx.db, (tx) => idempotent(tx, call, () => resume(tx, ctx, { runId, body }))),
  );
  const { run, workload } = await findOwnRun(ctx.db, { runId, userId });
  return toRun(ctx.config, run, workload);
}

/** Step: holds credits for the remaining work, and queues the run again. */
async function resume(
  tx: Transaction,
  ctx: Context,
  { runId, body }: { runId: string; body: InputOf<typeof endpoint>['body'] },
): Promise<{ id: string }> {
  const { userId } = ctx.caller;
  const { run: asked } = await findOwnRun(tx, { runId, userId });
  if (asked.kind === 'export') throw conflict('An export cannot be resumed. Start a new one');
  if (awaitsClone(asked))
    throw conflict(`${asked.base.title} was not cloned, so the run cannot be resumed. Start a new one`);
  await requireSources(tx, asked);
  const now = ctx.clock.now();
  const ended = await lockWorkload(tx, runId);
  await resumeWorkload(tx, { id: runId, now });
  // Read the run after the workload is locked, because the end of the last round may have been committed just
  // before.
  const { run: found, workload } = await findOwnRun(tx, { runId, userId });
  // The API key that resumes the run pays for the remaining work.
  const run: RunRow = { ...found, keyId: ctx.caller.key?.id ?? null };
  await publishChange(tx, userId, { topic: 'run', id: runId });
  const costMicro = (ended && resumeCostMicro(run, ended)) ?? 0n;
  const ceilingMicro = body.ceiling ?? resumeCeilingMicro(run, costMicro);
  assertCeilingAbove(run, ceilingMicro, unpaidMicro(run, workload.savedSeconds));
  const leftMicro = ceilingMicro - costSoFarMicro(run);
  const amountMicro = smallerAmount(costMicro, leftMicro);
  const detail = { run_id: runId, model_id: run.modelAssetId };
  await recordAudit(tx, { userId, action: 'run.resumed', detail });
  const hold = await holdForRun(tx, run, {
    round: `resume:${run.resumes + 1}`,
    amountMicro,
    ceilingMicro,
    now,
  });
  // There is an estimate only if the user has chosen neither this ceiling nor an earlier one.
  const estimateMicro = body.ceiling === undefined && run.estimateMicro !== null ? costMicro : null;
  const settled = settleSeconds(run, workload.savedSeconds);
  await startRound(tx, run, { ...settled, ceilingMicro, estimateMicro, hold });
  return { id: runId };
}

/**
 * Locks the run's inputs and model against deletion. Throws AppError 'conflict' with the name of the first
 * one if any is gone.
 */
async function requireSources(
  tx: Transaction,
  { userId, modelAssetId, base, dataset, validation }: RunRow,
): Promise<void> {
  await findReadableAsset(tx, { assetId: modelAssetId, userId });
  await unlessGone(requireRevision(tx, { ...base, userId }), `base model ‘${base.title}’`);
  await unlessGone(requireRevision(tx, { ...dataset, userId }), `dataset ‘${dataset.title}’`);
  if (validation)
    await unlessGone(requireRevision(tx, { ...validation, userId }), `validation file ‘${validation.title}’`);
  const sources = [base, dataset, ...(validation ? [validation] : [])].map(({ assetId }) => assetId);
  await lockAssetsForUse(tx, { ids: [modelAssetId, ...sources], userId });
}

async function unlessGone(source: Promise<unknown>, what: string): Promise<void> {
  await source.catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    throw conflict(
      `The ${what} was deleted or is no longer shared with you, and the run cannot continue without it`,
      { cause: error },
    );
  });
}
