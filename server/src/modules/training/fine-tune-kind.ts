import { hasEnded } from '../../engine/workload.ts';
import type { WorkloadKind } from '../../engine/workload-kind.ts';
import type { Clock } from '../../platform/clock.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { createRevisionFromBlobs } from '../assets/create-revision-from-blobs.ts';
import { meterRun } from './meter-run.ts';
import { findRun, updateSummary } from './queries.ts';
import { settleRun } from './settle-run.ts';

export const FINE_TUNE_KIND = 'fine-tune';

/** A fine-tune in the engine's hands: metered while it trains, made into a model, settled at the end. */
export function fineTuneKind(clock: Clock): WorkloadKind {
  return {
    name: FINE_TUNE_KIND,
    onReports: async (tx, workload) => {
      const run = await findRun(tx, workload.id);
      if (run) await meterRun(tx, run, workload, clock.now());
    },
    onResult: async (tx, workload, result, artefacts) => {
      const run = await findRun(tx, workload.id);
      if (!run) return;
      await updateSummary(tx, run.id, result.summary);
      await createRevisionFromBlobs(tx, { assetId: run.modelAssetId, files: artefacts });
    },
    onChange: async (tx, workload) => {
      const run = await findRun(tx, workload.id);
      if (!run) return;
      await publishChange(tx, run.userId, { topic: 'run', id: run.id });
      if (hasEnded(workload)) await settleRun(tx, run, workload);
    },
  };
}
