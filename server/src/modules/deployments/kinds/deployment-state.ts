import type { Workload, WorkloadState } from '../../../engine/model/workload.ts';

/** The state of a deployment, the same for all kinds. */
export type DeploymentState =
  | 'queued'
  | 'deploying'
  | 'running'
  | 'sleeping'
  | 'degraded'
  | 'stopping'
  | 'terminated'
  | 'failed';

/** Maps the engine's states of a workload to a deployment's state, and its progress in percent. */
const shown: Record<WorkloadState, { state: DeploymentState; progress: number }> = {
  queued: { state: 'queued', progress: 0 },
  scheduling: { state: 'deploying', progress: 10 },
  pulling: { state: 'deploying', progress: 20 },
  starting: { state: 'deploying', progress: 70 },
  ready: { state: 'running', progress: 100 },
  degraded: { state: 'degraded', progress: 100 },
  stopping: { state: 'stopping', progress: 100 },
  completed: { state: 'terminated', progress: 100 },
  stopped: { state: 'terminated', progress: 100 },
  failed: { state: 'failed', progress: 0 },
};

export type ShownDeployment = { state: DeploymentState; reason: string; progress: number; phase: string };

/** Returns the state to show for a deployment. `carrier` is the workload that serves it, if any. */
export function showDeployment(
  deployment: { terminatedAt: Date | null; failed: boolean; sleeping: boolean; reason: string },
  carrier: Pick<Workload, 'state' | 'reason' | 'phase' | 'done' | 'total'> | null,
): ShownDeployment {
  const { reason } = deployment;
  if (deployment.failed) return { state: 'failed', reason, progress: 0, phase: 'failed' };
  if (deployment.terminatedAt) return { state: 'terminated', reason, progress: 100, phase: 'terminated' };
  if (deployment.sleeping) return { state: 'sleeping', reason, progress: 100, phase: 'sleeping' };
  if (!carrier)
    return { state: 'queued', reason: 'Waiting for its model server', progress: 0, phase: 'queued' };

  const { state, progress } = shown[carrier.state];
  const pulled =
    carrier.state === 'pulling' && carrier.done !== null && carrier.total ? carrier.done / carrier.total : 0;
  // The deployment is still live, so its workload will be replaced, or the deployment ends. Its row shows
  // which in a moment.
  const ended = state === 'terminated' || state === 'stopping' || state === 'failed';
  return {
    state: ended ? 'deploying' : state,
    reason: carrier.reason,
    progress: Math.round(progress + pulled * (shown.starting.progress - shown.pulling.progress)),
    phase: carrier.phase ?? carrier.state,
  };
}
