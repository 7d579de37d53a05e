import { heldOutAnswers } from '@bakehouse/contract/runtime/report';
import { findCpuMachine } from '../../../engine/machines/find-cpu-machine.ts';
import { hasEnded, type WorkloadState } from '../../../engine/model/workload.ts';
import type { WorkloadKind } from '../../../engine/model/workload-kind.ts';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { publishChange, publishChanges } from '../../../platform/events/publish-change.ts';
import { enqueueCard } from '../../assets/card/card-data.ts';
import { createRevisionFromBlobs } from '../../assets/revisions/add-revision.ts';
import type { IdleCredit } from '../../billing/usage/with-idle-credit.ts';
import { notify } from '../../notifications/notifications.ts';
import { meterRun, settleRun } from '../charges/hold-run.ts';
import { upsertHeldOutAnswers } from '../held-out/queries.ts';
import { nameResult } from '../openai-jobs/results.ts';
import { saveCheckpoint } from '../pictures/checkpoint-queries.ts';
import { replaceSamples } from '../pictures/sample-queries.ts';
import { findOwners, findRun, type RunRow, updateSlowdown, updateSummary } from '../queries.ts';
import { measuredSlowdown } from '../slowdown.ts';

export const FINE_TUNE_KIND = 'fine-tune';

/**
 * The workload kind of fine-tunes and exports. It meters a running run, makes its result a model, and settles
 * it at its end.
 */
export function fineTuneKind(
  { clock, jobs }: Pick<Services, 'clock' | 'jobs'>,
  usage: IdleCredit,
): WorkloadKind {
  return {
    name: FINE_TUNE_KIND,
    onReports: async (tx, workload, reports) => {
      const run = await findRun(tx, workload.id);
      if (!run) return;
      // Runs in a transaction of its own, for which this one does not wait.
      const freeIdleCredit = () => void usage.closeIdle(run.userId);
      await meterRun(tx, { run, workload, now: clock.now(), freeIdleCredit });
      const answers = reports.findLast(({ type }) => type === 'held_out_answers');
      for (const { step, pictures, adapter } of reports.filter((report) => report.type === 'samples')) {
        const checkpoint = { runId: run.id, userId: run.userId, step };
        await replaceSamples(tx, { ...checkpoint, pictures });
        if (adapter !== undefined) await saveCheckpoint(tx, { ...checkpoint, path: adapter });
      }
      if (answers) await upsertHeldOutAnswers(tx, run.id, heldOutAnswers.parse(answers));
    },
    onResult: async (tx, workload, result, artefacts) => {
      const run = await findRun(tx, workload.id);
      if (!run) return;
      await updateSummary(tx, run.id, result.summary);
      // Keep files and a model card that the owner has added during the run.
      await createRevisionFromBlobs(tx, {
        assetId: run.modelAssetId,
        files: artefacts,
        keepsOthers: true,
        message: 'Add what the run has made',
      });
      await enqueueCard(tx, jobs, artefacts);
      if (run.kind !== 'export') await nameResult(tx, run);
    },
    onReasons: async (tx, workloads) => {
      const owners = await findOwners(
        tx,
        workloads.map(({ id }) => id),
      );
      await publishChanges(
        tx,
        owners.map(({ id, userId }) => ({ userId, event: { topic: 'run', id } })),
      );
    },
    onChange: async (tx, workload, before) => {
      const run = await findRun(tx, workload.id);
      if (!run) return;
      await publishChange(tx, run.userId, { topic: 'run', id: run.id });
      if (!hasEnded(workload)) return;
      await settleRun(tx, run, workload);
      if (!hasEnded(before)) await notifyOfEnd(tx, run, workload.state);
      // The duration and the slowdown together give the machine's speed without other load.
      if (workload.state === 'completed' && workload.placement.accelerator === null) {
        const machine = await findCpuMachine(tx);
        if (machine && machine.id === workload.machineId)
          await updateSlowdown(tx, run.id, measuredSlowdown(machine.load, workload.activeSeconds));
      }
    },
  };
}

/** Step: notifies a run's owner how it ended. */
async function notifyOfEnd(
  tx: Transaction,
  run: Pick<RunRow, 'id' | 'userId' | 'title' | 'kind' | 'stopReason'>,
  state: WorkloadState,
): Promise<void> {
  const { id, userId, title, kind, stopReason } = run;
  const data = { run_id: id, title, ...(kind === 'export' && { is_export: true }) };
  if (state === 'completed') await notify(tx, { userId, kind: 'run_completed', data });
  else if (state === 'failed') await notify(tx, { userId, kind: 'run_failed', data });
  else await notify(tx, { userId, kind: 'run_cancelled', data: { ...data, stop_reason: stopReason } });
}
