import { expect, test, vi } from 'vitest';
import type { Condition, Job, Pod } from './objects.ts';
import { attemptLabels, attemptName } from './objects.ts';
import { TrackedAttempts } from './tracked-attempts.ts';

const id = 'b5b4f7c5-52b0-4a52-9a39-0b4b3b3a6d10';
const name = attemptName(id, 1);
const metadata = { name, labels: attemptLabels(id, 1) };
const deleted = { deletionTimestamp: '2026-11-29T12:00:00Z' };

const job = (suspend: boolean, more: Partial<Job['metadata']> = {}): Job => ({
  ...{ metadata: { ...metadata, ...more }, spec: { suspend } },
});
const pod = (phase: 'Running' | 'Succeeded', more: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { ...metadata, name: `${name}-x`, ...more },
  spec: {},
  status: { phase },
});

function track(now = () => new Date()) {
  const onEviction = vi.fn();
  const onChange = vi.fn();
  const attempts = new TrackedAttempts({ now, onChange, onEviction });
  return { attempts, onEviction, onChange, look: () => attempts.observe(id, 1) };
}

test('does not treat a Job as evicted if the watch still shows it suspended while its pod runs', () => {
  const { attempts, onEviction, look } = track();
  attempts.onJobChange(job(true), undefined);
  attempts.onPodChange(pod('Running'), undefined);
  expect(onEviction).not.toHaveBeenCalled();
  attempts.onJobChange(job(false), job(true));
  expect(look()).toEqual({ state: 'alive' });
  // Kueue evicts the attempt: it suspends the Job and deletes the pod.
  attempts.onJobChange(job(true), job(false));
  attempts.onPodChange(pod('Running', deleted), pod('Running'));
  expect(onEviction).toHaveBeenCalledWith({ id, attempt: 1, by: 'preempted' });
});

test.each<[string, Condition['reason'], string]>([
  ['work with priority', 'Preempted', 'preempted'],
  ['a stopped queue', 'ClusterQueueStopped', 'evicted'],
])('is evicted by %s as reported by Kueue', (_by, reason, by) => {
  const { attempts, onEviction } = track();
  attempts.onJobChange(job(true), undefined);
  attempts.onPodChange(pod('Running', deleted), undefined);
  const conditions = [{ type: 'Evicted', status: 'True' as const, reason }];
  const owner = { metadata: { name: 'w', ownerReferences: [{ kind: 'Job', name }] }, status: { conditions } };
  attempts.onQueueChange(owner, undefined);
  expect(onEviction).toHaveBeenLastCalledWith({ id, attempt: 1, by });
});

test('a pod whose Job is gone saves its work, and its end has the cause recorded in the Job', () => {
  const { attempts, look } = track();
  const remembers = job(true, { annotations: { 'bakehouse/ended-by': 'preempted' }, ...deleted });
  attempts.onJobChange(remembers, undefined);
  attempts.onPodChange(pod('Running', deleted), undefined);
  attempts.onJobChange(undefined, remembers);
  expect(look()).toEqual({ state: 'alive' });
  attempts.onPodChange(undefined, pod('Running', deleted));
  expect(look()).toMatchObject({ state: 'ended', by: 'preempted', folder: 'gone' });
});

test('an ended attempt stays ended when its objects are deleted, until it is forgotten', () => {
  const { attempts, look, onChange } = track();
  attempts.onJobChange(job(false), undefined);
  attempts.onPodChange(pod('Succeeded'), undefined);
  attempts.onPodChange(undefined, pod('Succeeded'));
  attempts.onJobChange(undefined, job(false));
  expect(look()).toMatchObject({ state: 'ended', by: 'itself', exitCode: 0 });
  expect(onChange).toHaveBeenCalledTimes(2);
  expect(attempts.hasObjects({ id, attempt: 1 })).toBe(false);
  attempts.deleteEarlier(id, 1);
  expect(attempts.list(id)).toHaveLength(1);
  attempts.deleteEarlier(id, 2);
  expect(attempts.list(id)).toEqual([]);
  expect(look()).toEqual({ state: 'absent' });
});

test('a forgotten attempt reports no pods, and is dropped once its objects are gone', () => {
  const { attempts } = track();
  attempts.onJobChange(job(false), undefined);
  attempts.onPodChange(pod('Running'), undefined);
  expect(attempts.pod(id, 1)).toBeDefined();
  attempts.forget(id);
  expect(attempts.pod(id, 1)).toBeUndefined();
  attempts.onJobChange(undefined, job(false, deleted));
  expect(attempts.list()).toHaveLength(1);
  attempts.onPodChange(undefined, pod('Running', deleted));
  expect(attempts.list()).toEqual([]);
});

test('records nothing for a Job that never had a pod', () => {
  const { attempts } = track();
  attempts.onJobChange(job(true), undefined);
  attempts.onJobChange(undefined, job(true));
  expect(attempts.list()).toEqual([]);
});

test('a pod deleted without a final status ends the attempt, even if its Job creates another pod', () => {
  const { attempts, look } = track();
  attempts.onJobChange(job(false), undefined);
  attempts.onPodChange(pod('Running'), undefined);
  attempts.onPodChange(undefined, pod('Running'));
  expect(look()).toMatchObject({ state: 'ended', by: 'evicted', exitCode: null });
  attempts.onPodChange(pod('Running', { name: `${name}-y` }), undefined);
  expect(look()).toMatchObject({ state: 'ended', by: 'evicted' });
});

test.each([-3600, 0, 3600])('a clock that is %i s off does not change when an attempt ends', (offS) => {
  let seconds = 0;
  const { attempts, look } = track(() => new Date(Date.UTC(2026, 10, 29, 12, 0, seconds)));
  const theirs = new Date(Date.UTC(2026, 10, 29, 12, 0, offS)).toISOString();
  const waiting = { state: { waiting: { reason: 'ErrImagePull', message: 'not found' } } };
  const stuck: Pod = {
    ...pod('Running', { creationTimestamp: theirs }),
    status: { phase: 'Pending', startTime: theirs, containerStatuses: [waiting] },
  };
  attempts.onJobChange(job(false, { creationTimestamp: theirs }), undefined);
  attempts.onPodChange(stuck, undefined);
  seconds = 299;
  attempts.onPodChange(stuck, stuck);
  expect(look()).toMatchObject({ state: 'pending' });
  seconds = 301;
  expect(look()).toMatchObject({ state: 'ended', by: 'image' });

  const other = track(() => new Date(Date.UTC(2026, 10, 29, 12, 0, seconds)));
  const lost = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' } as const;
  const conditions = [{ ...lost, lastTransitionTime: theirs }];
  const away: Pod = { ...pod('Running'), status: { phase: 'Running', startTime: theirs, conditions } };
  other.attempts.onJobChange(job(false), undefined);
  other.attempts.onPodChange(away, undefined);
  seconds += 59;
  expect(other.look()).toEqual({ state: 'alive' });
  seconds += 2;
  expect(other.look()).toMatchObject({ state: 'ended', by: 'node_lost' });
});
