import type { WorkloadSpec } from '../../../engine/model/workload.ts';
import { failResting, releaseWorkload } from '../../../engine/request-workload.ts';
import { findWorkloadWithSpec } from '../../../engine/workloads.ts';
import type { Context, Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, conflict } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { createLeaseLoop, type LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import { recordLineage } from '../../assets/lineage.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { lockAssetsForUse } from '../../assets/remove-asset.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import { findGguf } from '../../models/weights/model-files.ts';
import { sourceOf } from '../create-run.ts';
import { producesWholeModel, toInput } from '../fine-tune-spec.ts';
import { findRun, type RunRow } from '../queries.ts';
import { readSourceNames } from '../slowdown.ts';
import { findBaseFault } from '../validation/base-faults.ts';
import { type EndedClone, findRunOfEndedClone, saveClonedBase } from './clone-queries.ts';
import { awaitsClone } from './hub-base.ts';

/**
 * Creates the loop that starts runs whose base model has been cloned, and fails runs whose clone has failed.
 * It has no state in memory.
 */
export function createCloneWaitLoop(services: Services): LeaseLoop {
  const claim = async () => {
    const found = await findRunOfEndedClone(services.db);
    return found && { id: found.runId, run: () => endWait(services, found) };
  };
  return createLeaseLoop(services, { name: 'clone waits', places: 1, claim });
}

async function endWait(services: Services, clone: EndedClone): Promise<void> {
  const { runId, repoId, assetId } = clone;
  try {
    if (assetId === null) throw conflict(`${repoId} was not cloned: ${clone.reason.replace(/\.$/, '')}`);
    await release(services, runId);
  } catch (error) {
    if (!(error instanceof AppError))
      services.log.error({ err: error, run_id: runId }, 'failed to start a run after its clone ended');
    const why = error instanceof AppError ? error.publicMessage : 'Something went wrong on the server';
    await inTransaction(services.db, (tx) =>
      failResting(tx, { id: runId, reason: `${why}. You are not charged`, now: services.clock.now() }),
    ).catch((cause: unknown) =>
      services.log.error({ err: cause, run_id: runId }, 'failed to end a run whose clone failed'),
    );
  }
}

/** Adds the base model to the run's spec, and queues the run. */
async function release(services: Services, runId: string): Promise<void> {
  const run = await findRun(services.db, runId);
  const workload = await findWorkloadWithSpec(services.db, runId);
  if (!run || !workload || !awaitsClone(run)) return;
  const { userId } = run;
  const base = await readRevision(services.db, { assetId: run.base.assetId, userId, top: true });
  const fault = await findBaseFault(services, base);
  if (fault) throw conflict(fault);
  const dataset = await readRevision(services.db, { ...run.dataset, userId, paths: [] });
  const ctx: Context = {
    ...services,
    caller: { kind: 'user', userId, isOperator: false },
    ...{ requestId: runId, idempotencyKey: null },
  };
  const sources = await readSourceNames(ctx, { base, dataset });
  const spec = withBase(workload.spec, run, { base, sources });
  await inTransaction(services.db, async (tx) => {
    const now = services.clock.now();
    if (!(await releaseWorkload(tx, { id: runId, spec, now }))) return;
    await lockAssetsForUse(tx, { ids: [base.asset.id, dataset.asset.id], userId });
    await saveClonedBase(tx, { runId, modelAssetId: run.modelAssetId, base });
    await recordLineage(tx, {
      ...{ assetId: run.modelAssetId, runId, base: sourceOf(base), dataset: run.dataset },
    });
    await publishChange(tx, userId, { topic: 'run', id: runId });
    await publishChange(tx, userId, { topic: 'asset', id: run.modelAssetId });
  });
}

function withBase(
  spec: WorkloadSpec,
  run: RunRow,
  { base, sources }: { base: AssetRevision; sources: Awaited<ReturnType<typeof readSourceNames>> },
): WorkloadSpec {
  if (spec.kind !== 'train' || spec.method !== 'lora' || run.kind !== 'text')
    throw new Error(`${run.id} is not a text fine-tune`);
  const gguf = producesWholeModel(run.parameters) ? findGguf(base).files : [];
  return {
    ...spec,
    sources,
    base_model_title: sources.base_model === null ? 'a private model' : base.asset.title,
    inputs: [
      { name: 'base_model', files: listModelFiles(base.files).map(toInput) },
      ...spec.inputs.filter(({ name }) => name !== 'base_model'),
      ...(gguf.length === 1 ? [{ name: 'base_gguf', files: gguf.map(toInput) }] : []),
    ],
  };
}
