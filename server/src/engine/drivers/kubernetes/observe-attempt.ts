import type { EndedBy, Observed } from '../../model/observed.ts';
import { endedByOf, findCondition, isTrue, type Job, type Pod, type QueuedJob } from './objects.ts';

/**
 * A pod, and since when what is given some time was seen of it: that its node has taken it in, and that it went with its
 * node. By our own clock, as those of the API server and of nodes may be an hour off.
 */
export type SeenPod = { pod: Pod; boundAt: Date | null; lostAt: Date | null };

/** What the cluster shows of one attempt: its Job, the pods of that, and its place in Kueue's queue. */
export type Seen = { job: Job | undefined; pods: SeenPod[]; queued: QueuedJob | undefined };

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
export function observeAttempt({ job, pods, queued }: Seen, now: Date): Observed {
  if (!job && pods.length === 0) return { state: 'absent' };
  const [newest] = pods.toSorted((a, b) => createdAt(b.pod) - createdAt(a.pod));
  const end = newest && endOf(newest, now);
  if (newest && !end) return observeLiving(newest, now);
  const by = endedByOf(job);
  if (end) return { ...end, by: by ?? end.by };
  // It is being deleted, and its pod may not have been seen yet.
  if (by) return { state: 'pending', reason: '' };
  // What ends by itself leaves its pod behind.
  if (!job) return { state: 'absent' };
  if (isTrue(job.status, 'Failed')) return ended('evicted', null, jobMessage(job));
  if (isTrue(job.status, 'Complete')) return ended('itself', 0, null);
  return { state: 'pending', reason: waitingReason(job, queued) };
}

/** A pod as it is seen now. Pure. */
export function seePod(pod: Pod, before: SeenPod | undefined, now: Date): SeenPod {
  return {
    pod,
    boundAt: pod.status?.startTime === undefined ? null : (before?.boundAt ?? now),
    lostAt: isAway(pod) ? (before?.lostAt ?? now) : null,
  };
}

/** Whether its node is given up, and it does not answer either. */
function isAway({ status }: Pod): boolean {
  const disrupted = findCondition(status, 'DisruptionTarget');
  const isLost = disrupted?.status === 'True' && disruptedBy(disrupted.reason) === 'node_lost';
  return isLost && findCondition(status, 'Ready')?.status !== 'True';
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
  const disrupted = findCondition(status, 'DisruptionTarget');
  const by = disrupted?.status === 'True' ? disruptedBy(disrupted.reason) : null;
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

/** By the reason of `DisruptionTarget`; null where that says nothing of others. */
function disruptedBy(reason: string | undefined): EndedBy | null {
  switch (reason) {
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
