import type { Logger } from 'pino';
import type { Cluster } from './cluster.ts';
import { type Job, MANAGED_SELECTOR, type Pod, type QueuedJob } from './objects.ts';
import { pathsOf } from './paths.ts';
import { type Eviction, TrackedAttempts } from './tracked-attempts.ts';
import { watchObjects } from './watch-objects.ts';

export type FollowedAttempts = {
  attempts: TrackedAttempts;
  /** Whether the initial lists are complete. */
  isComplete: () => boolean;
  /** Adds a Job that was just created, before the watch sees it. */
  put: (job: Job) => void;
  close: () => Promise<void>;
};

type Options = {
  cluster: Cluster;
  log: Logger;
  now: () => Date;
  /** Whether to watch Kueue's records of them. */
  kueue: boolean;
  onChange: (workloadId: string) => void;
  onEviction: (eviction: Eviction) => void;
};

/** Watches the objects of all attempts in a cluster's namespace. */
export function followAttempts({ cluster, log, kueue, ...options }: Options): FollowedAttempts {
  const paths = pathsOf(cluster.namespace);
  const attempts = new TrackedAttempts(options);
  const jobs = watchObjects<Job>({
    ...{ cluster, log, path: paths.jobs, labelSelector: MANAGED_SELECTOR, keep: cacheJob },
    onChange: (after, before) => attempts.onJobChange(after, before),
  });
  const pods = watchObjects<Pod>({
    ...{ cluster, log, path: paths.pods, labelSelector: MANAGED_SELECTOR, keep: cachePod },
    onChange: (after, before) => attempts.onPodChange(after, before),
  });
  const queued = kueue
    ? watchObjects<QueuedJob>({
        ...{ cluster, log, path: paths.queued, keep: cacheQueuedJob },
        onChange: (after, before) => attempts.onQueueChange(after, before),
      })
    : null;
  return {
    attempts,
    isComplete: () => jobs.isComplete() && pods.isComplete() && (queued?.isComplete() ?? true),
    put: (job) => jobs.put(job),
    close: async () => {
      await Promise.all([jobs.close(), pods.close(), queued?.close()]);
    },
  };
}

function cacheMetadata({ metadata }: Job | Pod | QueuedJob): Job['metadata'] {
  const {
    name,
    uid,
    resourceVersion,
    labels,
    annotations,
    creationTimestamp,
    deletionTimestamp,
    ownerReferences,
  } = metadata;
  return {
    name,
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(creationTimestamp && { creationTimestamp }),
    ...(deletionTimestamp && { deletionTimestamp }),
    ...(ownerReferences && { ownerReferences }),
  };
}

function cacheJob(job: Job): Job {
  return {
    metadata: cacheMetadata(job),
    spec: { suspend: job.spec.suspend ?? false },
    status: { conditions: job.status?.conditions ?? [] },
  };
}

function cachePod(pod: Pod): Pod {
  const { phase, reason, message, podIP, startTime, conditions, initContainerStatuses, containerStatuses } =
    pod.status ?? {};
  return JSON.parse(
    JSON.stringify({
      metadata: cacheMetadata(pod),
      spec: { nodeName: pod.spec.nodeName },
      status: {
        phase,
        reason,
        message,
        podIP,
        startTime,
        conditions,
        initContainerStatuses,
        containerStatuses,
      },
    }),
  ) as Pod;
}

function cacheQueuedJob(queued: QueuedJob): QueuedJob {
  return { metadata: cacheMetadata(queued), status: { conditions: queued.status?.conditions ?? [] } };
}
