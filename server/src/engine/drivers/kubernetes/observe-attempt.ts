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
 * A pod, and since when what is given some time was seen of it: that its node has taken it in, that it went with its
 * node, and that it was over. By our own clock, as those of the API server and of nodes may be an hour off.
 */
export type SeenPod = { pod: Pod; boundAt: Date | null; lostAt: Date | null; overAt: Date | null };

/**
 * What the cluster shows of one attempt: its Job, the pods of that, the ends of those that are gone by their ranks, and
 * its place in Kueue's queue.
 */
export type Seen = {
  job: Job | undefined;
  pods: SeenPod[];
  gone: ReadonlyMap<number, SeenNode>;
  queued: QueuedJob | undefined;
};

export type Ended = Extract<Observed, { state: 'ended' }>;

/** How long an image may take to appear in a registry that is out of reach for a moment, and a Secret to be made. */
const TROUBLE_MS_MAX = 5 * 60_000;
/** How long a pod may take on its node until it begins: pulling an image of many gigabytes. */
const BEGIN_MS_MAX = 30 * 60_000;
/** What containers wait for in good order. */
const IN_ORDER = new Set(['ContainerCreating', 'PodInitializing']);
const IMAGE_TROUBLE = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'RegistryUnavailable',
]);
/** A node that is back within this has not been lost. */
const LOST_MS = 60_000;

/**
 * What the engine is to think of an attempt. Its work folder is a pod's, so that nothing of it is kept. Pure.
 * @param now For what is given some time.
 */
export function observeAttempt(seen: Seen, now: Date): Observed {
  const { job, pods, queued } = seen;
  if (!job && pods.length === 0) return { state: 'absent' };
  const by = endedByOf(job);
  if (pods.length > 0) {
    const observed = combineNodes(observeNodes(seen, now));
    return observed.state === 'ended' ? { ...observed, by: by ?? observed.by } : observed;
  }
  // It is being deleted, and its pod may not have been seen yet.
  if (by) return { state: 'pending', reason: '' };
  // What ends by itself leaves its pod behind.
  if (!job) return { state: 'absent' };
  if (isTrue(job.status, 'Failed')) return ended('evicted', null, jobMessage(job));
  if (isTrue(job.status, 'Complete')) return ended('itself', 0, null);
  return { state: 'pending', reason: waitingReason(job, queued) };
}

/** Each of the nodes of an attempt, by its newest pod. Pure. */
export function observeNodes({ job, pods, gone }: Omit<Seen, 'queued'>, now: Date): SeenNode[] {
  const newestFirst = pods.toSorted((a, b) => createdAt(b.pod) - createdAt(a.pod));
  const count = nodeCountOf(job ?? newestFirst[0]?.pod);
  return Array.from({ length: count }, (_, rank) => {
    const seen = newestFirst.find(({ pod }) => rankOf(pod) === rank);
    // One that is gone has ended, though its Job makes another one under its token.
    const known = count > 1 ? gone.get(rank) : undefined;
    if (known) return known;
    if (seen) return observeNode(seen, now);
    return missingNode(job, now);
  });
}

/** One without a pod: it has none yet, or none any more. */
function missingNode(job: Job | undefined, now: Date): SeenNode {
  if (job && !isFinished(job))
    return { observed: { state: 'pending', reason: '' }, endedAt: null, deletion: null };
  const isWell = isTrue(job?.status, 'Complete');
  const observed = isWell ? ended('itself', 0, null) : ended('evicted', null, null);
  return { observed, endedAt: now, deletion: { by: null } };
}

/** One node by its pod. Pure. */
export function observeNode(seen: SeenPod, now: Date): SeenNode {
  const { pod, overAt, lostAt } = seen;
  const observed = endOf(seen, now) ?? observeLiving(seen, now);
  return {
    observed,
    endedAt: observed.state === 'ended' ? (overAt ?? lostAt ?? now) : null,
    deletion: pod.metadata.deletionTimestamp ? { by: disruptedBy(pod) } : null,
  };
}

/** A pod as it is seen now. Pure. */
export function seePod(pod: Pod, before: SeenPod | undefined, now: Date): SeenPod {
  return {
    pod,
    overAt: isOver(pod) ? (before?.overAt ?? now) : null,
    boundAt: pod.status?.startTime === undefined ? null : (before?.boundAt ?? now),
    lostAt: isAway(pod) ? (before?.lostAt ?? now) : null,
  };
}

/** Whether its node is given up, and it does not answer either. */
function isAway(pod: Pod): boolean {
  return disruptedBy(pod) === 'node_lost' && findCondition(pod.status, 'Ready')?.status !== 'True';
}

/** Whether its containers have ended. Pure. */
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

/** How a pod ended; null while it has not. */
function endOf({ pod, lostAt }: SeenPod, now: Date): Ended | null {
  const { status = {} } = pod;
  const by = disruptedBy(pod);
  // What was asked to end was not by its own doing.
  const otherwise = pod.metadata.deletionTimestamp ? 'evicted' : 'itself';
  const terminated = terminationOf(pod);
  const invalid = status.containerStatuses?.find(
    ({ state }) => state?.waiting?.reason === 'InvalidImageName',
  );
  // One that was asked to end has saved its work, and succeeded.
  if (status.phase === 'Succeeded') return ended(by ?? otherwise, 0, lastLineOf(terminated?.message));
  if (status.phase === 'Failed') {
    const line = lastLineOf(terminated?.message ?? status.message);
    if (by && !/exceed/i.test(status.message ?? '')) return ended(by, terminated?.exitCode ?? null, line);
    // What takes more disk or memory than it was given would do so again.
    if (status.reason === 'Evicted')
      return ended(
        /exceed/i.test(status.message ?? '') ? 'oom' : 'evicted',
        terminated?.exitCode ?? null,
        line,
      );
    // Its node did not take it in.
    if (!status.containerStatuses?.length && !terminated) return ended('evicted', null, line);
    if (terminated?.reason === 'OOMKilled') return ended('oom', terminated.exitCode, line);
    return ended(otherwise, terminated?.exitCode ?? null, line);
  }
  if (invalid) return ended('image', null, `The image has no valid name: ${invalid.state?.waiting?.message}`);
  // Nobody can say what has become of it: what its zombie reports is refused from the next attempt on.
  const isLost = lostAt !== null && now.getTime() - lostAt.getTime() > LOST_MS;
  return isLost ? ended('node_lost', null, null) : null;
}

/** Who ends a pod, by the reason of `DisruptionTarget`; null where that says nothing of others. */
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

/** That of the work, or of what brings its inputs where that failed. */
function terminationOf({ status = {} }: Pod) {
  const [work] = status.containerStatuses ?? [];
  const failed = status.initContainerStatuses?.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  return work?.state?.terminated ?? failed?.state?.terminated;
}

/** The end of a pod, with which its work folder goes. */
export function ended(by: EndedBy, exitCode: number | null, lastLine: string | null): Ended {
  return { state: 'ended', by, exitCode, lastLine, folder: 'gone' };
}

function lastLineOf(text: string | undefined): string | null {
  return text?.trimEnd().split('\n').at(-1) || null;
}

function jobMessage({ status }: Job): string | null {
  return findCondition(status, 'Failed')?.message ?? null;
}

/** What keeps a Job from having a pod, as a sentence for the person who waits; '' where nothing does. */
function waitingReason(job: Job, queued: QueuedJob | undefined): string {
  if (!waitsForQuota(job, queued)) return '';
  const quota = findCondition(queued?.status, 'QuotaReserved');
  return quota?.message ? `Waiting for quota: ${quota.message}` : 'Waiting for quota.';
}

/** Whether it is in Kueue's queue. Pure. */
export function waitsForQuota({ spec }: Job, queued: QueuedJob | undefined): boolean {
  return spec.suspend === true && !isTrue(queued?.status, 'QuotaReserved');
}

function createdAt({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '') || 0;
}
