import type { EndedBy, Observed } from '../../model/observed.ts';
import { combineNodes, type SeenNode } from './combine-nodes.ts';
import {
  endedByOf,
  findCondition,
  isFinished,
  isTrue,
  type Job,
  nodeCountOf,
  type Pod,
  type QueuedJob,
  rankOf,
} from './objects.ts';

/**
 * A pod, and when it was bound to a node, lost with the node, and ended. All times are by our own clock,
 * because the clocks of the API server and of nodes may be an hour off.
 */
export type SeenPod = { pod: Pod; boundAt: Date | null; lostAt: Date | null; overAt: Date | null };

/** State of one attempt: its Job, its pods, the ends of deleted pods by rank, and its Kueue record. */
export type Seen = {
  job: Job | undefined;
  pods: SeenPod[];
  gone: ReadonlyMap<number, SeenNode>;
  queued: QueuedJob | undefined;
};

export type Ended = Extract<Observed, { state: 'ended' }>;

/** How long a missing image or Secret is tolerated, for example while a registry is unreachable. */
const TROUBLE_MS_MAX = 5 * 60_000;
/** How long a pod may take to start on its node, including the pull of a large image. */
const BEGIN_MS_MAX = 30 * 60_000;
/** Waiting reasons of a normal start. */
const IN_ORDER = new Set(['ContainerCreating', 'PodInitializing']);
const IMAGE_TROUBLE = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'RegistryUnavailable',
]);
/** A node that returns within this time is not lost. */
const LOST_MS = 60_000;

/** Returns the state of an attempt at `now`. The work folder of an attempt is lost with its pod. */
export function observeAttempt(seen: Seen, now: Date): Observed {
  const { job, pods, queued } = seen;
  if (!job && pods.length === 0) return { state: 'absent' };
  const by = endedByOf(job);
  if (pods.length > 0) {
    const observed = combineNodes(observeNodes(seen, now));
    return observed.state === 'ended' ? { ...observed, by: by ?? observed.by } : observed;
  }
  // The Job is being deleted. It may still have a pod that was not seen yet.
  if (by) return { state: 'pending', reason: '' };
  // The Job was deleted from outside: an attempt that ends on its own leaves its pod behind.
  if (!job) return { state: 'absent' };
  if (isTrue(job.status, 'Failed')) return ended('evicted', null, jobMessage(job));
  if (isTrue(job.status, 'Complete')) return ended('itself', 0, null);
  return { state: 'pending', reason: waitingReason(job, queued) };
}

/** Returns the state of each node of an attempt, from its newest pod. */
export function observeNodes({ job, pods, gone }: Omit<Seen, 'queued'>, now: Date): SeenNode[] {
  const newestFirst = pods.toSorted((a, b) => createdAt(b.pod) - createdAt(a.pod));
  const count = nodeCountOf(job ?? newestFirst[0]?.pod);
  return Array.from({ length: count }, (_, rank) => {
    const seen = newestFirst.find(({ pod }) => rankOf(pod) === rank);
    // In a Job of several nodes, a node whose pod was deleted has ended, even if the Job creates another pod
    // with the same token.
    const known = count > 1 ? gone.get(rank) : undefined;
    if (known) return known;
    if (seen) return observeNode(seen, now);
    return missingNode(job, now);
  });
}

/** Returns the state of a node without a pod: the pod was not created yet, or is already gone. */
function missingNode(job: Job | undefined, now: Date): SeenNode {
  if (job && !isFinished(job))
    return { observed: { state: 'pending', reason: '' }, endedAt: null, deletion: null };
  const isWell = isTrue(job?.status, 'Complete');
  const observed = isWell ? ended('itself', 0, null) : ended('evicted', null, null);
  return { observed, endedAt: now, deletion: { by: null } };
}

/** Returns the state of one node, from its pod. */
export function observeNode(seen: SeenPod, now: Date): SeenNode {
  const { pod, overAt, lostAt } = seen;
  const observed = endOf(seen, now) ?? observeLiving(seen, now);
  return {
    observed,
    endedAt: observed.state === 'ended' ? (overAt ?? lostAt ?? now) : null,
    deletion: pod.metadata.deletionTimestamp ? { by: disruptedBy(pod) } : null,
  };
}

/** Returns a pod with the times at which its changes were first seen. */
export function trackPod(pod: Pod, before: SeenPod | undefined, now: Date): SeenPod {
  return {
    pod,
    overAt: isOver(pod) ? (before?.overAt ?? now) : null,
    boundAt: pod.status?.startTime === undefined ? null : (before?.boundAt ?? now),
    lostAt: isNodeLost(pod) ? (before?.lostAt ?? now) : null,
  };
}

/** True if the pod's node is marked as lost and the pod is not ready. */
function isNodeLost(pod: Pod): boolean {
  return disruptedBy(pod) === 'node_lost' && findCondition(pod.status, 'Ready')?.status !== 'True';
}

/** Returns true if the pod's containers have ended. */
export function isOver({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function observeLiving({ pod: { status = {} }, boundAt }: SeenPod, now: Date): Observed {
  const waiting = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
    .map(({ state }) => state?.waiting)
    .find((one) => one?.reason !== undefined && !IN_ORDER.has(one.reason));
  const init = status.initContainerStatuses?.[0]?.state;
  const hasBegun =
    status.phase === 'Running' || init?.running !== undefined || init?.terminated !== undefined;
  if (hasBegun) return { state: 'alive', ...(status.podIP && { address: status.podIP }) };
  const boundMs = boundAt === null ? 0 : now.getTime() - boundAt.getTime();
  if (waiting) {
    const isImage = IMAGE_TROUBLE.has(waiting.reason ?? '');
    const what = isImage ? 'Its image cannot be pulled' : 'Its pod cannot begin';
    const message = `${what}: ${waiting.message ?? waiting.reason}`;
    if (boundMs > TROUBLE_MS_MAX) return ended(isImage ? 'image' : 'itself', null, message);
    return { state: 'pending', reason: message };
  }
  if (boundMs > BEGIN_MS_MAX)
    return ended('itself', null, 'Its pod did not begin on its node within 30 minutes');
  const scheduled = findCondition(status, 'PodScheduled');
  if (scheduled?.status === 'False')
    return { state: 'pending', reason: `No node has room: ${scheduled.message ?? scheduled.reason}` };
  return { state: 'pending', reason: '' };
}

/** Returns how a pod ended; null while it runs. */
function endOf({ pod, lostAt }: SeenPod, now: Date): Ended | null {
  const { status = {} } = pod;
  const by = disruptedBy(pod);
  // Someone else ended a pod that is being deleted.
  const otherwise = pod.metadata.deletionTimestamp ? 'evicted' : 'itself';
  const terminated = terminationOf(pod);
  const invalid = status.containerStatuses?.find(
    ({ state }) => state?.waiting?.reason === 'InvalidImageName',
  );
  // A pod that was asked to stop saved its work and succeeded.
  if (status.phase === 'Succeeded') return ended(by ?? otherwise, 0, lastLineOf(terminated?.message));
  if (status.phase === 'Failed') {
    const line = lastLineOf(terminated?.message ?? status.message);
    if (by && !/exceed/i.test(status.message ?? '')) return ended(by, terminated?.exitCode ?? null, line);
    // Not counted as an eviction: a retry would exceed the disk or memory limit again.
    if (status.reason === 'Evicted')
      return ended(
        /exceed/i.test(status.message ?? '') ? 'oom' : 'evicted',
        terminated?.exitCode ?? null,
        line,
      );
    // The node rejected the pod.
    if (!status.containerStatuses?.length && !terminated) return ended('evicted', null, line);
    if (terminated?.reason === 'OOMKilled') return ended('oom', terminated.exitCode, line);
    return ended(otherwise, terminated?.exitCode ?? null, line);
  }
  if (invalid) return ended('image', null, `The image has no valid name: ${invalid.state?.waiting?.message}`);
  // The pod may still run on its node. Its reports are rejected once the next attempt begins.
  const isLost = lostAt !== null && now.getTime() - lostAt.getTime() > LOST_MS;
  return isLost ? ended('node_lost', null, null) : null;
}

/** Returns who ends a pod, from its condition `DisruptionTarget`; null if there is no external cause. */
function disruptedBy({ status }: Pod): EndedBy | null {
  const disrupted = findCondition(status, 'DisruptionTarget');
  switch (disrupted?.status === 'True' && disrupted.reason) {
    case 'PreemptionByScheduler':
      return 'preempted';
    case 'DeletionByTaintManager':
    case 'DeletionByPodGC':
      return 'node_lost';
    case 'EvictionByEvictionAPI':
    case 'TerminationByKubelet':
      return 'evicted';
    default:
      return null;
  }
}

/** Returns how the work container ended, or the init container if that one failed. */
function terminationOf({ status = {} }: Pod) {
  const [work] = status.containerStatuses ?? [];
  const failed = status.initContainerStatuses?.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  return work?.state?.terminated ?? failed?.state?.terminated;
}

/** Returns the end of a pod; its work folder is gone with it. */
export function ended(by: EndedBy, exitCode: number | null, lastLine: string | null): Ended {
  return { state: 'ended', by, exitCode, lastLine, folder: 'gone' };
}

function lastLineOf(text: string | undefined): string | null {
  return text?.trimEnd().split('\n').at(-1) || null;
}

function jobMessage({ status }: Job): string | null {
  return findCondition(status, 'Failed')?.message ?? null;
}

/** Why a Job has no pod, as a sentence for the waiting user; '' if nothing holds it up. */
function waitingReason(job: Job, queued: QueuedJob | undefined): string {
  if (!waitsForQuota(job, queued)) return '';
  const quota = findCondition(queued?.status, 'QuotaReserved');
  return quota?.message ? `Waiting for quota: ${quota.message}` : 'Waiting for quota.';
}

/** Returns true if the Job waits in Kueue's queue. */
export function waitsForQuota({ spec }: Job, queued: QueuedJob | undefined): boolean {
  return spec.suspend === true && !isTrue(queued?.status, 'QuotaReserved');
}

function createdAt({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}
