import { createHash } from 'node:crypto';
import type { Queues } from '../../../platform/cluster-settings.ts';
import type { EndedBy } from '../../model/observed.ts';
import { CannotStartError, type Launch } from '../driver.ts';
import { findCondition, MANAGED, type QueuedJob } from './objects.ts';

export const KUEUE_API = '/apis/kueue.x-k8s.io/v1beta2';
export const QUEUE_LABEL = 'kueue.x-k8s.io/queue-name';
export const PRIORITY_LABEL = 'kueue.x-k8s.io/priority-class';

/** Priority classes of the cluster: interactive servers before runs, preempted runs before new ones. */
export const PRIORITIES = {
  deployment: 'bakehouse-deployment',
  resumed: 'bakehouse-resumed',
  run: 'bakehouse-run',
};

/** Returns the ClusterQueues for a GPU type, or for `cpu`. */
export function queuesFor(queues: Queues, accelerator: string): string[] | undefined {
  return queues.get(accelerator) ?? queues.get('*');
}

/** Returns a user's LocalQueue and its ClusterQueue. Throws a plain sentence if there is none. */
export function queueOf(
  queues: Queues,
  { userId, placement }: Pick<Launch, 'userId' | 'placement'>,
): { name: string; clusterQueue: string } {
  const accelerator = placement.accelerator ?? 'cpu';
  const candidates = queuesFor(queues, accelerator);
  if (!candidates) throw new CannotStartError(`BAKEHOUSE_KUEUE_QUEUES has no queue for ${accelerator}`);
  const owner = userId ?? 'everybody';
  const turn = createHash('sha256').update(owner).digest().readUInt32BE() % candidates.length;
  const clusterQueue = candidates[turn] ?? '';
  return { name: `${owner.replaceAll('-', '')}-${clusterQueue}`, clusterQueue };
}

/** Returns the queue with a name made by `queueOf`. */
export function queueNamed(name: string): ReturnType<typeof queueOf> {
  return { name, clusterQueue: name.slice(name.indexOf('-') + 1) };
}

export function localQueue(name: string, clusterQueue: string) {
  return {
    apiVersion: 'kueue.x-k8s.io/v1beta2',
    kind: 'LocalQueue',
    metadata: { name, labels: MANAGED },
    spec: { clusterQueue },
  };
}

export function priorityOf({ behaviour, attempt }: Pick<Launch, 'behaviour' | 'attempt'>): string {
  if (behaviour === 'deployment') return PRIORITIES.deployment;
  return attempt > 1 ? PRIORITIES.resumed : PRIORITIES.run;
}

/** True if the workload's LocalQueue no longer exists, for example after a restore of the API server. */
export function isWithoutQueue(queued: QueuedJob | undefined): boolean {
  const quota = findCondition(queued?.status, 'QuotaReserved');
  return quota?.status === 'False' && /^LocalQueue .* doesn't exist/.test(quota.message ?? '');
}

/** Returns the cause of an eviction; null if the workload is not evicted. */
export function evictedBy(queued: QueuedJob | undefined): EndedBy | null {
  const evicted = findCondition(queued?.status, 'Evicted');
  if (evicted?.status !== 'True') return null;
  return evicted.reason === 'Preempted' ? 'preempted' : 'evicted';
}
