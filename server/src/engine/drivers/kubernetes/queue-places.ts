import type { Logger } from 'pino';
import type { Queues } from '../../../platform/cluster-settings.ts';
import { shareResult } from '../../../platform/concurrency/share-result.ts';
import type { Cluster } from './cluster.ts';

/**
 * Only the fields that this server reads:
 * https://kueue.sigs.k8s.io/docs/tasks/manage/monitor_pending_workloads/pending_workloads_on_demand/
 */
type Summary = {
  items: {
    metadata: { namespace?: string; ownerReferences?: { kind: string; name: string }[] };
    /** Zero-based. */
    positionInClusterQueue: number;
  }[];
};

const VISIBILITY_API = '/apis/visibility.kueue.x-k8s.io/v1beta2';
/** Kueue's maximum; Jobs further back get no place. */
const PLACES = 1000;
const KEPT_MS = 60_000;

/**
 * Finds the places of Jobs in the ClusterQueues. While callers ask for places, each queue is read once a
 * minute. No Job has a place if Kueue does not serve them or this account may not read them.
 */
export function queuePlaces({ cluster, queues, log }: { cluster: Cluster; queues: Queues; log: Logger }): {
  find: (jobName: string) => number | null;
} {
  const clusterQueues = new Set([...queues.values()].flat());
  let places = new Map<string, number>();

  async function read(name: string): Promise<[string, number][]> {
    const path = `${VISIBILITY_API}/clusterqueues/${name}/pendingworkloads?limit=${PLACES}`;
    const { items } = await cluster.call<Summary>('GET', path);
    const own = items.filter(({ metadata }) => metadata.namespace === cluster.namespace);
    return own.map(({ metadata, positionInClusterQueue }) => [
      metadata.ownerReferences?.find(({ kind }) => kind === 'Job')?.name ?? '',
      positionInClusterQueue,
    ]);
  }
  const refresh = shareResult(async () => {
    const known = [...clusterQueues].map((name) =>
      read(name).catch((error: unknown): [string, number][] => {
        log.debug({ err: error, queue: name }, 'Kueue reports no places for this queue');
        return [];
      }),
    );
    places = new Map((await Promise.all(known)).flat());
  }, KEPT_MS);

  return {
    find: (jobName) => {
      // Refresh in the background, so that callers never wait.
      void refresh();
      return places.get(jobName) ?? null;
    },
  };
}

/**
 * Describes a place in a sentence. The number is rounded to one digit, so that the sentence changes at most a
 * few dozen times on the way through the queue.
 * @param before Number of Jobs ahead.
 */
export function describePlace(before: number): string {
  if (before === 0) return 'It is next in its queue.';
  if (before === 1) return 'One workload is ahead of it in its queue.';
  if (before <= 10) return `${before} workloads are ahead of it in its queue.`;
  return `About ${Number(before.toPrecision(1)).toLocaleString('en')} workloads are ahead of it in its queue.`;
}
