import type { EndedBy, Observed } from '../../model/observed.ts';
import type { AttemptId } from '../driver.ts';
import { findNodeTakeover, type SeenNode } from './combine-nodes.ts';
import { evictedBy, isWithoutQueue, QUEUE_LABEL } from './kueue.ts';
import {
  attemptName,
  attemptNamed,
  attemptOf,
  endedByOf,
  type Job,
  type Pod,
  type QueuedJob,
  rankOf,
} from './objects.ts';
import {
  type Ended,
  ended,
  observeAttempt,
  observeNode,
  observeNodes,
  type SeenPod,
  trackPod,
  waitsForQuota,
} from './observe-attempt.ts';

type Tracked = AttemptId & {
  job: Job | undefined;
  pods: Map<string, SeenPod>;
  queued: QueuedJob | undefined;
  /** How the attempt's deleted pods ended, by rank. */
  gone: Map<number, SeenNode>;
  /** True once its Job was seen unsuspended, so that it may create pods. */
  wasAdmitted: boolean;
  /** The cause recorded in the Job; stored here because the Job may be deleted. */
  endedBy: EndedBy | null;
  /** How the attempt ended; stored here because the objects that show it are deleted. */
  end: Ended | null;
  /** Drop this entry once its objects are gone, even if it has an end. */
  isForgotten: boolean;
  shown: string;
};

/** An evicted attempt. Its Job must be deleted, so that it cannot start again with the same token. */
export type Eviction = AttemptId & { by: EndedBy };

/** The attempts in the cluster, assembled from their objects as these change. */
export class TrackedAttempts {
  private readonly attempts = new Map<string, Tracked>();
  private readonly now: () => Date;
  private readonly onChange: (workloadId: string) => void;
  private readonly onEviction: (eviction: Eviction) => void;

  constructor(options: {
    now: () => Date;
    /** Called when an attempt changes. */
    onChange: (workloadId: string) => void;
    onEviction: (eviction: Eviction) => void;
  }) {
    this.now = options.now;
    this.onChange = options.onChange;
    this.onEviction = options.onEviction;
  }

  onJobChange(after: Job | undefined, before: Job | undefined): void {
    this.change(attemptOf(after ?? before), (tracked) => {
      tracked.job = after;
      tracked.wasAdmitted ||= after?.spec.suspend === false;
      tracked.endedBy = endedByOf(after) ?? endedByOf(before) ?? tracked.endedBy;
    });
  }

  onPodChange(after: Pod | undefined, before: Pod | undefined): void {
    this.change(attemptOf(after ?? before), (tracked) => {
      // The last version of a deleted pod may show how the pod ended.
      const last = after ?? before;
      if (!last) return;
      const { name } = last.metadata;
      const seen = trackPod(last, tracked.pods.get(name), this.now());
      tracked.pods.set(name, seen);
      this.look(tracked);
      if (after) return;
      tracked.pods.delete(name);
      tracked.gone.set(rankOf(last), goneNode(seen, this.now()));
    });
  }

  /** Kueue's record has no labels, so it is matched through the Job that owns it. */
  onQueueChange(after: QueuedJob | undefined, before: QueuedJob | undefined): void {
    const owner = (after ?? before)?.metadata.ownerReferences?.find(({ kind }) => kind === 'Job');
    this.change(owner ? attemptNamed(owner.name) : null, (tracked) => {
      tracked.queued = after;
    });
  }

  observe(workloadId: string, attempt: number): Observed {
    const tracked = this.attempts.get(attemptName(workloadId, attempt));
    return tracked && !tracked.isForgotten ? this.observed(tracked) : { state: 'absent' };
  }

  /** Attempts of a workload, or of all workloads without an argument. */
  list(workloadId?: string): AttemptId[] {
    return [...this.attempts.values()]
      .filter(({ id }) => workloadId === undefined || id === workloadId)
      .map(({ id, attempt }) => ({ id, attempt }));
  }

  /** Earlier attempts that still have cluster objects. */
  listEarlier(id: string, attempt: number): AttemptId[] {
    const earlier = Array.from({ length: attempt - 1 }, (_, index) => ({ id, attempt: index + 1 }));
    return earlier.filter((one) => this.hasObjects(one));
  }

  listAlive(): AttemptId[] {
    return [...this.attempts.values()]
      .filter((tracked) => this.observed(tracked).state === 'alive')
      .map(({ id, attempt }) => ({ id, attempt }));
  }

  job(workloadId: string, attempt: number): Job | undefined {
    return this.attempts.get(attemptName(workloadId, attempt))?.job;
  }

  /** The newest pod of an attempt (rank 0 of several nodes); undefined for forgotten workloads. */
  pod(workloadId: string, attempt: number): Pod | undefined {
    if (this.attempts.get(attemptName(workloadId, attempt))?.isForgotten) return undefined;
    return this.pods(workloadId, attempt).findLast((pod) => rankOf(pod) === 0);
  }

  pods(workloadId: string, attempt: number): Pod[] {
    const { pods } = this.attempts.get(attemptName(workloadId, attempt)) ?? {};
    return [...(pods?.values() ?? [])].map(({ pod }) => pod);
  }

  /**
   * Returns who evicts the attempt; null if it is not evicted, or if its Job is already being deleted. The
   * watch of Jobs may be behind the watch of pods, so a suspended Job counts as evicted only if it was seen
   * unsuspended before. If one of several nodes is taken away, the whole attempt is evicted.
   */
  evicting({ id, attempt }: AttemptId): EndedBy | null {
    const tracked = this.attempts.get(attemptName(id, attempt));
    if (!tracked?.job || tracked.job.metadata.deletionTimestamp) return null;
    const isAskedToEnd = [...tracked.pods.values()].some(({ pod }) => pod.metadata.deletionTimestamp);
    if (!isAskedToEnd && !(tracked.wasAdmitted && tracked.job.spec.suspend)) return this.taking(tracked);
    return evictedBy(tracked.queued) ?? (tracked.job.spec.suspend ? 'preempted' : this.taking(tracked));
  }

  /** True if the attempt waits in Kueue's queue. */
  isQueued({ id, attempt }: AttemptId): boolean {
    const { job, queued } = this.attempts.get(attemptName(id, attempt)) ?? {};
    return job !== undefined && waitsForQuota(job, queued);
  }

  /** Returns the name of the queue that the attempt waits in if that queue does not exist; otherwise null. */
  missingQueue({ id, attempt }: AttemptId): string | null {
    const { job, queued } = this.attempts.get(attemptName(id, attempt)) ?? {};
    return (isWithoutQueue(queued) && job?.metadata.labels?.[QUEUE_LABEL]) || null;
  }

  /** True if the cluster has objects of the attempt. */
  hasObjects({ id, attempt }: AttemptId): boolean {
    const tracked = this.attempts.get(attemptName(id, attempt));
    return tracked !== undefined && (tracked.job !== undefined || tracked.pods.size > 0);
  }

  /** Drops earlier attempts that have no objects left. */
  deleteEarlier(workloadId: string, before: number): void {
    for (const one of this.list(workloadId))
      if (one.attempt < before && !this.hasObjects(one))
        this.attempts.delete(attemptName(one.id, one.attempt));
  }

  /** Drops the attempts of a workload as soon as their objects are gone. */
  forget(workloadId: string): void {
    for (const tracked of this.attempts.values()) {
      if (tracked.id !== workloadId) continue;
      tracked.isForgotten = true;
      this.dropGone(tracked);
    }
  }

  private change(of: AttemptId | null, apply: (tracked: Tracked) => void): void {
    if (!of) return;
    const name = attemptName(of.id, of.attempt);
    let tracked = this.attempts.get(name);
    if (!tracked) {
      tracked = {
        ...of,
        job: undefined,
        pods: new Map(),
        queued: undefined,
        gone: new Map(),
        wasAdmitted: false,
        endedBy: null,
        end: null,
        isForgotten: false,
        shown: '',
      };
      this.attempts.set(name, tracked);
    }
    apply(tracked);
    this.look(tracked);
    this.dropGone(tracked);
  }

  private dropGone({ id, attempt, job, pods, queued, end, isForgotten }: Tracked): void {
    const isGone = !job && pods.size === 0 && !queued;
    if (isGone && (!end || isForgotten)) this.attempts.delete(attemptName(id, attempt));
  }

  /** Ended attempts stay ended, whatever happens to their objects. */
  private observed(tracked: Tracked): Observed {
    const { job, pods, gone, queued } = tracked;
    // The pods were deleted from outside, or by a restore of the API server: an attempt that ends on its own
    // leaves its pod. If the Job creates another pod, that pod has the same token as the first, which may
    // still run.
    const isDeleted = pods.size === 0 && (gone.size > 0 || (!job && tracked.endedBy !== null));
    const observed =
      tracked.end ??
      (isDeleted
        ? ended(tracked.endedBy ?? 'evicted', null, null)
        : observeAttempt({ job, pods: [...pods.values()], gone, queued }, this.now()));
    if (observed.state !== 'ended') return observed;
    // The cause may become known after the end itself.
    tracked.end = { ...observed, by: tracked.endedBy ?? observed.by };
    return tracked.end;
  }

  /** Returns who takes away one of the nodes of an attempt that has not ended; null if all nodes stay. */
  private taking({ job, pods, gone, end }: Tracked): EndedBy | null {
    if (end) return null;
    return findNodeTakeover(observeNodes({ job, pods: [...pods.values()], gone }, this.now()));
  }

  private look(tracked: Tracked): void {
    const shown = JSON.stringify(this.observed(tracked));
    const by = this.evicting(tracked);
    if (by) this.onEviction({ id: tracked.id, attempt: tracked.attempt, by });
    if (shown === tracked.shown) return;
    tracked.shown = shown;
    this.onChange(tracked.id);
  }
}

/** Returns how a deleted pod ended; a pod deleted without a final status counts as evicted. */
function goneNode(seen: SeenPod, now: Date): SeenNode {
  const node = observeNode(seen, now);
  return node.observed.state === 'ended'
    ? node
    : { observed: ended('evicted', null, null), endedAt: now, deletion: node.deletion ?? { by: null } };
}
