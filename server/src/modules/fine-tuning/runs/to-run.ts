import { gpuLabel } from '@bakehouse/contract/labels';
import { formatBgl } from '@bakehouse/contract/money';
import type { Run } from '@bakehouse/contract/runs';
import { cutHostPaths, type HostFolders } from '../../../engine/host/cut-host-paths.ts';
import { hasEnded, type Workload, type WorkloadState } from '../../../engine/model/workload.ts';
import { secondsSaved } from '../../../engine/workloads.ts';
import { costSoFarMicro, resumeCeilingMicro, stopsAtCeiling } from '../charges/ceiling.ts';
import { resumeCostMicro, roundCostMicro, unpaidMicro } from '../charges/cost.ts';
import { awaitsClone } from '../cloning/hub-base.ts';
import type { RunRow } from '../queries.ts';

/** The API's state for each state of the engine. */
const states: Record<WorkloadState, Run['state']> = {
  queued: 'queued',
  scheduling: 'starting',
  pulling: 'starting',
  starting: 'starting',
  ready: 'running',
  degraded: 'running',
  stopping: 'stopping',
  completed: 'completed',
  stopped: 'cancelled',
  failed: 'failed',
};

/** Returns a run in the API's format. `config` is needed to remove the host's paths from texts. */
export function toRun(config: HostFolders, run: RunRow, workload: Workload): Run {
  const ended = hasEnded(workload);
  const reason = cutHostPaths(config, workload.reason);
  const resumeMicro = resumeCostMicro(run, workload);
  const completed = workload.state === 'completed';
  return {
    run_id: run.id,
    user_id: run.userId,
    title: run.title,
    model_id: run.modelAssetId,
    base_model: { dataset_id: run.base.assetId, revision_id: run.base.revisionId, title: run.base.title },
    ...trainedBy(run),
    state: !ended && workload.wanted === 'stopped' ? 'stopping' : states[workload.state],
    reason: ended ? `${asSentence(reason)}${savedSentence(run, workload)}` : reason,
    phase: ended ? null : awaitsClone(run) ? 'cloning' : workload.phase,
    step: workload.step,
    steps_total: workload.stepsTotal,
    progress: completed ? 100 : percent(workload),
    elapsed_seconds: workload.activeSeconds,
    remaining_seconds: ended || workload.unit !== 'steps' ? null : workload.remainingSeconds,
    device: deviceName(workload),
    quote: run.quote,
    held: formatBgl(run.chargedMicro === null ? run.heldMicro : 0n),
    charged: run.chargedMicro === null ? null : formatBgl(costSoFarMicro(run)),
    cost_so_far: formatBgl(run.chargedMicro === null ? usedMicro(run, workload) : costSoFarMicro(run)),
    ceiling: formatBgl(run.ceilingMicro),
    stops_at_ceiling: stopsAtCeiling(run),
    stop_reason: run.stopReason,
    resume_hold: resumeMicro === null ? null : formatBgl(resumeMicro),
    resume_unpaid: resumeMicro === null ? null : owed(run, workload),
    resume_ceiling: resumeMicro === null ? null : formatBgl(resumeCeilingMicro(run, resumeMicro)),
    restarts: workload.restarts,
    memory_bytes: run.memoryBytes,
    summary: run.summary,
    created_at: run.createdAt.toISOString(),
    started_at: workload.startedAt?.toISOString() ?? null,
    ended_at: workload.endedAt?.toISOString() ?? null,
  };
}

/** Returns the dataset and parameters of a run. */
function trainedBy(run: RunRow) {
  const { assetId: dataset_id, revisionId: revision_id, title } = run.dataset;
  const dataset = { dataset_id, revision_id, title };
  if (run.kind === 'export')
    return { kind: run.kind, dataset: { ...dataset, file_name: null }, parameters: run.parameters };
  const { validation: file } = run;
  const validation = file && {
    ...{
      dataset_id: file.assetId,
      revision_id: file.revisionId,
      title: file.title,
      file_name: file.fileName,
    },
  };
  return run.kind === 'text'
    ? {
        ...{ kind: run.kind, dataset: { ...dataset, file_name: run.fileName }, validation },
        parameters: run.parameters,
      }
    : { kind: run.kind, dataset: { ...dataset, file_name: run.fileName }, parameters: run.parameters };
}

/** Returns the cost of saved work that an ended run has not paid; null if there is none. */
function owed(run: RunRow, workload: Workload): string | null {
  const micro = unpaidMicro(run, secondsSaved(workload));
  return micro === 0n ? null : formatBgl(micro);
}

/**
 * Returns the current cost of the run, including earlier rounds. The current round costs at most its hold.
 */
function usedMicro(run: RunRow, { activeSeconds }: Workload): bigint {
  const used = roundCostMicro(run, activeSeconds);
  return run.settledMicro + (used < run.heldMicro ? used : run.heldMicro);
}

/** Ends the reason with a full stop. */
function asSentence(reason: string): string {
  return reason.endsWith('.') ? reason : `${reason}.`;
}

/** Returns a sentence that the work was saved, if the server stopped the run. */
function savedSentence({ stopReason }: RunRow, { outcome }: Workload): string {
  const isSaved = outcome?.type === 'stopped' && outcome.step > 0;
  return stopReason !== null && isSaved ? ' The work was saved.' : '';
}

/** Returns the progress, at most 99: only a completed run shows 100. */
function percent({ step, stepsTotal }: Workload): number {
  return stepsTotal === 0 ? 0 : Math.min(99, Math.floor((100 * step) / stepsTotal));
}

function deviceName({ placement }: Workload): string {
  return placement.accelerator === null ? 'CPU' : `${placement.count} x ${gpuLabel(placement.accelerator)}`;
}
