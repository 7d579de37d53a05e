import { createHash } from 'node:crypto';
import type { Queues } from '../../../platform/cluster-settings.ts';
import type { EndedBy } from '../../model/observed.ts';
import { CannotStartError, type Launch } from '../driver.ts';
import { findCondition, MANAGED, type QueuedJob } from './objects.ts';

export const KUEUE_API = '/apis/kueue.x-k8s.io/v1beta2';
export const QUEUE_LABEL = 'kueue.x-k8s.io/queue-name';
export const PRIORITY_LABEL = 'kueue.x-k8s.io/priority-class';

/**
 * The priorities of a cluster, which its administrator makes: what somebody waits for at a screen goes before runs, and a
 * run that was pushed out before one that has not begun.
 */
export const PRIORITIES = {
  deployment: 'bakehouse-deployment',
  resumed: 'bakehouse-resumed',
  run: 'bakehouse-run',
};

/** The ClusterQueues that work waits in that wants such GPUs, or `cpu`. Pure. */
export function queuesFor(queues: Queues, accelerator: string): string[] | undefined {
  return queues.get(accelerator) ?? queues.get('*');
}

/** A user's own queue, and the ClusterQueue that it draws on. Throws a plain sentence where there is none. Pure. */
export function queueOf(
  queues: Queues,
  { userId, placement }: Pick<Launch, 'userId' | 'placement'>,
): { name: string; clusterQueue: string } {
  const accelerator = placement.accelerator ?? 'cpu';
  const candidates = queuesFor(queues, accelerator);
  if (!candidates) throw new CannotStartError(`BAKEHOUSE_KUEUE_QUEUES names no queue for ${accelerator}`);
  const owner = userId ?? 'everybody';
  const turn = createHash('sha256').update(owner).digest().readUInt32BE() % candidates.length;
  const clusterQueue = candidates[turn] ?? '';
  return { name: `${owner.replaceAll('-', '')}-${clusterQueue}`, clusterQueue };
}

/** A queue that `queueOf` has named. Pure. */
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

/** Whether the LocalQueue that a workload waits in is gone, as with an API server that was set back. Pure. */
export function isWithoutQueue(queued: QueuedJob | undefined): boolean {
  const quota = findCondition(queued?.status, 'QuotaReserved');
  return quota?.status === 'False' && /^LocalQueue .* doesn't exist/.test(quota.message ?? '');
}

/** Who takes a workload out of its place; null while nobody does. Pure. */
export function evictedBy(queued: QueuedJob | undefined): EndedBy | null {
  const evicted = findCondition(queued?.status, 'Evicted');
  if (evicted?.status !== 'True') return null;
  return evicted.reason === 'Preempted' ? 'preempted' : 'evicted';
}
