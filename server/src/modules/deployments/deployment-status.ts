import type { deploymentStates } from '@bakehouse/contract/deployments';
import type { Workload, WorkloadState } from '../../engine/workload.ts';

export type DeploymentStatus = (typeof deploymentStates)[number];

/** The engine's states in the words of the wire, with the part of the way that lies behind each. */
const shown: Record<WorkloadState, { status: DeploymentStatus; progress: number }> = {
  queued: { status: 'queued', progress: 0 },
  scheduling: { status: 'deploying', progress: 10 },
  pulling: { status: 'deploying', progress: 20 },
  starting: { status: 'deploying', progress: 70 },
  ready: { status: 'running', progress: 100 },
  degraded: { status: 'degraded', progress: 100 },
  stopping: { status: 'stopping', progress: 100 },
  completed: { status: 'terminated', progress: 100 },
  stopped: { status: 'terminated', progress: 100 },
  failed: { status: 'failed', progress: 0 },
};

export type ShownDeployment = { status: DeploymentStatus; reason: string; progress: number; phase: string };

/** What a person sees of a deployment, given the workload that carries it, if one does. */
export function showDeployment(
  deployment: { terminatedAt: Date | null; failed: boolean; sleeping: boolean; reason: string },
  carrier: Pick<Workload, 'state' | 'reason' | 'phase' | 'done' | 'total'> | null,
): ShownDeployment {
  const { reason } = deployment;
  if (deployment.failed) return { status: 'failed', reason, progress: 0, phase: 'failed' };
  if (deployment.terminatedAt) return { status: 'terminated', reason, progress: 100, phase: 'terminated' };
  if (deployment.sleeping) return { status: 'sleeping', reason, progress: 100, phase: 'sleeping' };
  if (!carrier)
    return { status: 'queued', reason: 'Waiting for its model server', progress: 0, phase: 'queued' };

  const { status, progress } = shown[carrier.state];
  const pulled =
    carrier.state === 'pulling' && carrier.done !== null && carrier.total ? carrier.done / carrier.total : 0;
  // A workload that ends under a live deployment is replaced, or the deployment ends with it: either
  // way the deployment's own row says so in a moment.
  const ended = status === 'terminated' || status === 'stopping' || status === 'failed';
  return {
    status: ended ? 'deploying' : status,
    reason: carrier.reason,
    progress: Math.round(progress + pulled * (shown.starting.progress - shown.pulling.progress)),
    phase: carrier.phase ?? carrier.state,
  };
}
