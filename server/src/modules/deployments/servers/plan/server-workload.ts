import { hasEnded } from '../../../../engine/model/has-ended.ts';
import type { WorkloadWithSpec } from '../../../../engine/model/workload.ts';
import type { DeploymentRow } from '../../queries.ts';
import type { ServerWorkload } from './plan-model-server.ts';

/** A workload as the plan for its model server sees it. */
export function viewWorkload(workload: WorkloadWithSpec, now: Date): ServerWorkload {
  return { id: workload.id, state: viewedState(workload, now), adapters: adapterNames(workload) };
}

function viewedState(workload: WorkloadWithSpec, now: Date): ServerWorkload['state'] {
  if (hasEnded(workload) || workload.wanted === 'stopped') return 'ended';
  if (workload.state === 'ready' || workload.state === 'degraded') return 'ready';
  // The queue gives a reason to those that it has passed over; one that rests after a failure has one too.
  const passedOver = workload.state === 'queued' && workload.reason !== '' && workload.notBefore <= now;
  return passedOver ? 'waiting' : 'coming';
}

/** The adapters of a model server's workload, in the order in which its engine counts them. */
export function adapterNames(workload: Pick<WorkloadWithSpec, 'spec'>): string[] {
  return 'adapters' in workload.spec ? workload.spec.adapters.map((adapter) => adapter.name) : [];
}

/** Whether the workload can answer for the deployment. */
export function carries(
  workload: Pick<WorkloadWithSpec, 'spec'>,
  deployment: Pick<DeploymentRow, 'adapter' | 'revision_id'>,
): boolean {
  return deployment.adapter === null || adapterNames(workload).includes(deployment.revision_id);
}
