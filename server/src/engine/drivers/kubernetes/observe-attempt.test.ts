import { describe, expect, test } from 'vitest';
import type { Condition, Job, Pod, QueuedJob } from './objects.ts';
import { observeAttempt, type Seen as SeenByUs, trackPod } from './observe-attempt.ts';

type Seen = Omit<SeenByUs, 'pods' | 'gone'> & { pods: Pod[] };

const now = new Date('2026-11-29T12:00:00Z');
const before = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();

const condition = (type: string, reason: string, more: Partial<Condition> = {}): Condition => ({
  ...{ type, reason, status: 'True', ...more },
});
const job = (more: Partial<Job> = {}): Job => ({ metadata: { name: 'a' }, spec: {}, ...more });
const pod = (status: Pod['status'], more: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name: 'a-x', creationTimestamp: before(600), ...more },
  spec: { nodeName: 'node-0' },
  // A node clock that is an hour ahead must not matter.
  status: { startTime: before(-3600), ...status },
});
const waits = (reason: string, message = '') => [{ state: { waiting: { reason, message } } }];
const exits = (exitCode: number, more: { reason?: string; message?: string } = {}) => [
  { state: { terminated: { exitCode, ...more } } },
];
/** @param ago How many seconds ago the pods were bound to their nodes, or lost with them. */
const look = ({ pods = [], ...seen }: Partial<Seen>, ago = 600) => {
  const seenPods = pods.map((one) => trackPod(one, undefined, new Date(before(ago))));
  return observeAttempt({ job: job(), gone: new Map(), queued: undefined, ...seen, pods: seenPods }, now);
};
const queued = (message: string, status: 'True' | 'False' = 'False'): QueuedJob => ({
  metadata: { name: 'w' },
  status: { conditions: [condition('QuotaReserved', 'Pending', { status, message })] },
});

test('an attempt whose Job is gone is alive while its pod saves its work', () => {
  expect(look({ job: undefined })).toEqual({ state: 'absent' });
  expect(look({ job: undefined, pods: [pod({ phase: 'Running' })] })).toEqual({ state: 'alive' });
});

describe('waiting', () => {
  test.each<[string, Partial<Seen>, string]>([
    ['for its pod', {}, ''],
    ['for Kueue to notice it', { job: job({ spec: { suspend: true } }) }, 'Waiting for quota.'],
    [
      'for quota',
      {
        job: job({ spec: { suspend: true } }),
        queued: queued('insufficient unused quota for nvidia.com/gpu'),
      },
      'Waiting for quota: insufficient unused quota for nvidia.com/gpu',
    ],
    ['for its start', { job: job({ spec: { suspend: true } }), queued: queued('', 'True') }, ''],
    [
      'for a node',
      {
        pods: [
          pod({
            phase: 'Pending',
            conditions: [
              condition('PodScheduled', 'Unschedulable', {
                status: 'False',
                message: '0/2 nodes are available',
              }),
            ],
          }),
        ],
      },
      'No node has room: 0/2 nodes are available',
    ],
    [
      'for its node',
      { pods: [pod({ phase: 'Pending', containerStatuses: waits('ContainerCreating') })] },
      '',
    ],
    [
      'for its image',
      {
        pods: [
          pod({
            phase: 'Pending',
            containerStatuses: waits('ImagePullBackOff', 'the registry is away'),
          }),
        ],
      },
      'Its image cannot be pulled: the registry is away',
    ],
  ])('%s', (_what, seen, reason) => {
    expect(look(seen, 100)).toEqual({ state: 'pending', reason });
  });
});

test('is alive once its inputs are fetched, at the address of its pod', () => {
  const fetching: Pod['status'] = { phase: 'Pending', initContainerStatuses: [{ state: { running: {} } }] };
  expect(look({ pods: [pod(fetching)] })).toEqual({ state: 'alive' });
  expect(look({ pods: [pod({ phase: 'Running', podIP: '10.0.0.7' })] })).toEqual({
    ...{ state: 'alive', address: '10.0.0.7' },
  });
  // Kueue has suspended the Job, and its pod still saves its work.
  const evicted = { job: job({ spec: { suspend: true } }), pods: [pod({ phase: 'Running' })] };
  expect(look(evicted)).toEqual({ state: 'alive' });
});

describe('ended', () => {
  const disrupted = (reason: string) => [
    condition('DisruptionTarget', reason, { lastTransitionTime: before(-3600) }),
  ];
  test.each<[string, Partial<Seen>, object]>([
    [
      'well',
      { pods: [pod({ phase: 'Succeeded', containerStatuses: exits(0) })] },
      { by: 'itself', exitCode: 0 },
    ],
    [
      'with a status and its last output',
      { pods: [pod({ phase: 'Failed', containerStatuses: exits(3, { message: 'no\nrows\n' }) })] },
      { by: 'itself', exitCode: 3, lastLine: 'rows' },
    ],
    [
      'before it began, while its inputs were fetched',
      { pods: [pod({ phase: 'Failed', initContainerStatuses: exits(75, { message: 'away' }) })] },
      { by: 'itself', exitCode: 75, lastLine: 'away' },
    ],
    [
      'by the memory limit',
      { pods: [pod({ phase: 'Failed', containerStatuses: exits(137, { reason: 'OOMKilled' }) })] },
      { by: 'oom', exitCode: 137 },
    ],
    [
      'by a preemption',
      { pods: [pod({ phase: 'Failed', conditions: disrupted('PreemptionByScheduler') })] },
      { by: 'preempted', exitCode: null },
    ],
    [
      'by a drain, with its work saved',
      {
        pods: [
          pod({
            phase: 'Succeeded',
            conditions: disrupted('EvictionByEvictionAPI'),
            containerStatuses: exits(0),
          }),
        ],
      },
      { by: 'evicted', exitCode: 0 },
    ],
    [
      'by a node that runs out of disk',
      {
        pods: [pod({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory' })],
      },
      { by: 'evicted' },
    ],
    [
      'by exceeding its own storage limit',
      {
        pods: [
          pod({
            ...{ phase: 'Failed', reason: 'Evicted', conditions: disrupted('TerminationByKubelet') },
            message: 'Pod ephemeral local storage usage exceeds the total limit of containers 10Gi',
          }),
        ],
      },
      { by: 'oom' },
    ],
    [
      'by a node that rejected it',
      { pods: [pod({ phase: 'Failed', reason: 'UnexpectedAdmissionError', message: 'no GPU' })] },
      { by: 'evicted', lastLine: 'no GPU' },
    ],
    [
      'by a missing Secret',
      {
        pods: [
          pod({ phase: 'Pending', containerStatuses: waits('CreateContainerConfigError', 'no secret') }),
        ],
      },
      { by: 'itself', lastLine: 'Its pod cannot begin: no secret' },
    ],
    [
      'by a start timeout on its node',
      {
        pods: [pod({ phase: 'Pending', containerStatuses: waits('ContainerCreating') })],
      },
      { by: 'itself', lastLine: 'Its pod did not begin on its node within 30 minutes' },
    ],
    [
      'with its node',
      { pods: [pod({ phase: 'Running', conditions: disrupted('DeletionByTaintManager') })] },
      { by: 'node_lost', exitCode: null },
    ],
    [
      'by an image that was missing for minutes',
      { pods: [pod({ phase: 'Pending', containerStatuses: waits('ErrImagePull', 'not found') })] },
      { by: 'image', lastLine: 'Its image cannot be pulled: not found' },
    ],
    [
      'by an invalid image name',
      { pods: [pod({ phase: 'Pending', containerStatuses: waits('InvalidImageName', 'a b') })] },
      { by: 'image', lastLine: 'The image has no valid name: a b' },
    ],
    [
      'by the deletion of its pod',
      { job: job({ status: { conditions: [condition('Failed', 'BackoffLimitExceeded')] } }) },
      { by: 'evicted', exitCode: null },
    ],
    [
      'by Kueue, as recorded in the Job',
      {
        job: job({ metadata: { name: 'a', annotations: { 'bakehouse/ended-by': 'preempted' } } }),
        pods: [pod({ phase: 'Succeeded', containerStatuses: exits(0) })],
      },
      { by: 'preempted', exitCode: 0 },
    ],
  ])('%s', (_how, seen, end) => {
    expect(look(seen, 1900)).toMatchObject({ state: 'ended', folder: 'gone', ...end });
  });
});

test('a node that is briefly unreachable loses nothing', () => {
  const conditions = [
    condition('DisruptionTarget', 'DeletionByTaintManager', { lastTransitionTime: before(3600) }),
  ];
  expect(look({ pods: [pod({ phase: 'Running', conditions })] }, 20)).toEqual({ state: 'alive' });
});

test('draining a healthy node gives its pods their grace period', () => {
  const conditions = [
    condition('DisruptionTarget', 'DeletionByTaintManager', { lastTransitionTime: before(600) }),
    condition('Ready', ''),
  ];
  expect(look({ pods: [pod({ phase: 'Running', conditions })] })).toEqual({ state: 'alive' });
});

test('the newest of several pods counts', () => {
  const old = pod({ phase: 'Failed', containerStatuses: exits(1) }, { creationTimestamp: before(900) });
  expect(look({ pods: [pod({ phase: 'Running' }), old] })).toEqual({ state: 'alive' });
});

describe('with two nodes', () => {
  const labels = { 'bakehouse/nodes': '2' };
  const whole = (type?: string) =>
    job({ metadata: { name: 'a', labels }, ...(type && { status: { conditions: [condition(type, '')] } }) });
  const node = (rank: number, status: Pod['status'], more: Partial<Pod['metadata']> = {}) =>
    pod(status, {
      ...{ name: `a-${rank}-x`, labels },
      annotations: { 'batch.kubernetes.io/job-completion-index': String(rank) },
      ...more,
    });
  const failed = node(1, { phase: 'Failed', containerStatuses: exits(3, { message: 'no rows' }) });
  const running = node(0, { phase: 'Running', podIP: '10.0.0.7' });
  const other = node(1, { phase: 'Running', podIP: '10.0.0.8' });
  test.each<[string, Partial<Seen>, object]>([
    ['it waits for the second node', { job: whole(), pods: [running] }, { state: 'pending', reason: '' }],
    [
      'it is alive with both',
      { job: whole(), pods: [other, running] },
      { state: 'alive', address: '10.0.0.7' },
    ],
    [
      'only the first remains and saves its work',
      { job: undefined, pods: [running] },
      { state: 'alive', address: '10.0.0.7' },
    ],
    [
      'only the node remains that ended the Job',
      { job: whole('Failed'), pods: [failed] },
      { state: 'ended', by: 'itself', exitCode: 3, lastLine: 'Node 1: no rows' },
    ],
    [
      'only one of the successful nodes remains',
      { job: whole('Complete'), pods: [node(0, { phase: 'Succeeded', containerStatuses: exits(0) })] },
      { state: 'ended', by: 'itself', exitCode: 0 },
    ],
    [
      'the Job records who has taken it',
      {
        job: job({ metadata: { name: 'a', labels, annotations: { 'bakehouse/ended-by': 'preempted' } } }),
        pods: [failed, node(0, { phase: 'Failed', containerStatuses: exits(1) })],
      },
      { state: 'ended', by: 'preempted' },
    ],
  ])('%s', (_what, seen, expected) => {
    expect(look(seen)).toMatchObject(expected);
  });
});
