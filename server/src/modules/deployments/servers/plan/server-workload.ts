import { hasEnded } from '../../../../engine/model/has-ended.ts';
import type { WorkloadWithSpec } from '../../../../engine/model/workload.ts';
import type { DeploymentRow } from '../../queries.ts';
import type { ServerWorkload } from './plan-model-server.ts';

/** Returns a workload in the form that the plan uses. */
export function viewWorkload(workload: WorkloadWithSpec, now: Date): ServerWorkload {
  return { id: workload.id, state: viewedState(workload, now), adapters: adapterNames(workload) };
}

function viewedState(workload: WorkloadWithSpec, now: Date): ServerWorkload['state'] {
  if (hasEnded(workload) || workload.wanted === 'stopped') return 'ended';
  if (workload.state === 'ready' || workload.state === 'degraded') return 'ready';
  // The queue sets a reason on workloads that it has passed over; a workload that pauses after a failure has
  // a reason too.
  const passedOver = workload.state === 'queued' && workload.reason !== '' && workload.notBefore <= now;
  return passedOver ? 'waiting' : 'coming';
}

/** Returns the adapters of a model server's workload in the order of the engine's indexes. */
export function adapterNames(workload: Pick<WorkloadWithSpec, 'spec'>): string[] {
  return 'adapters' in workload.spec ? workload.spec.adapters.map((adapter) => adapter.name) : [];
}

/** True if the workload can serve the deployment. */
export function carries(
  workload: Pick<WorkloadWithSpec, 'spec'>,
  deployment: Pick<DeploymentRow, 'adapter' | 'revision_id'>,
): boolean {
  return deployment.adapter === null || adapterNames(workload).includes(deployment.revision_id);
}
