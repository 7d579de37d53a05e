import { expect, test } from 'vitest';
import type { EndedBy, Observed } from '../model/observed.ts';
import type { Workload } from '../model/workload.ts';
import { FAILURES_MAX, plan as planListening, type Step } from './plan.ts';

/* Work in a cluster: waiting in the driver's queue, ends caused by others, and what remains of the work. */

const start = new Date('2026-01-01T00:00:00Z');
const now = new Date('2026-01-01T00:00:10Z');
const plan = (workload: Parameters<typeof planListening>[0], observed: Observed) => {
  const span = { since: start, until: now };
  return planListening(workload, observed, { anywhere: span, there: span });
};

const running: Parameters<typeof plan>[0] = {
  ...{ behaviour: 'run', wanted: 'running', state: 'ready', devices: [], reason: '', outcome: null },
  ...{ interrupted: false, killedFor: null, failures: 0, readyAt: start, attemptStartedAt: start },
  ...{ lastReportAt: now, stopRequestedAt: null, stopReason: null, drainSeconds: 0 },
  ...{ savedSeconds: 8, checkpointSeconds: 8 },
};
const left = { state: 'ended', by: 'itself', folder: 'kept' } as const;
const said = { seq: 9, at: '2026-01-01T00:00:09Z' };
const result: Workload['outcome'] = { ...said, type: 'result', files: [], summary: {} };
const failed: Workload['outcome'] = { ...said, type: 'failed', message: 'The file holds no rows.' };
const stopped: Workload['outcome'] = { ...said, type: 'stopped', step: 4 };

const byOthers: [EndedBy, string][] = [
  ['preempted', 'Work with a higher priority replaced it. It resumes from its last checkpoint in 5 s.'],
  ['evicted', 'Its machine was drained. It resumes from its last checkpoint in 5 s.'],
  ['node_lost', 'Its machine was lost. It resumes from its last checkpoint in 5 s.'],
  ['image', 'Its image could not be pulled. It resumes from its last checkpoint in 300 s.'],
];
test.each(byOthers)('an end by %s is no failure of the work, even if it happens often', (by, reason) => {
  const died: Observed = { ...left, by, exitCode: 137, lastLine: 'x' };
  const again: Step = { do: 'requeue', reason, delaySeconds: by === 'image' ? 300 : 5, failed: false };
  const tried = { ...running, failures: FAILURES_MAX - 1 };
  expect(plan(tried, died)).toEqual(again);
  expect(plan({ ...tried, outcome: stopped }, died)).toEqual(again);
  expect(plan({ ...tried, outcome: result }, died)).toMatchObject({ state: 'completed' });
  // A failure that the work itself reported, and our own reason for killing it, take precedence.
  expect(plan({ ...tried, outcome: failed }, died)).toMatchObject({ state: 'failed' });
  expect(plan({ ...tried, killedFor: 'silent' }, died)).toMatchObject({ state: 'failed' });
});

test('running out of memory counts as a failure of the work, and five in a row end it', () => {
  const died: Observed = { ...left, by: 'oom', exitCode: 137, lastLine: 'x' };
  const why = 'It exceeded its memory limit.';
  expect(plan(running, died)).toMatchObject({
    do: 'requeue',
    failed: true,
    reason: `${why} It resumes from its last checkpoint in 5 s.`,
  });
  expect(plan({ ...running, failures: FAILURES_MAX - 1 }, died)).toEqual({
    do: 'end',
    state: 'failed',
    reason: `${why} It was started 5 times without getting any further.`,
  });
});

test('work that lost its folder resumes from its upload', () => {
  const gone: Observed = { ...left, by: 'evicted', folder: 'gone', exitCode: null, lastLine: null };
  const uploaded = (checkpointSeconds: number, observed: Observed) =>
    plan({ ...running, checkpointSeconds }, observed);
  expect(uploaded(3, gone)).toMatchObject({
    do: 'requeue',
    workLost: true,
    reason: 'Its machine was drained. It resumes from its last checkpoint in 5 s.',
  });
  expect(uploaded(0, gone)).toMatchObject({ reason: 'Its machine was drained. It starts again in 5 s.' });
  expect(uploaded(3, { ...gone, folder: 'kept' })).not.toHaveProperty('workLost');
  const asked = { ...running, wanted: 'stopped', state: 'stopping', outcome: stopped } as const;
  expect(plan(asked, gone)).toMatchObject({ state: 'stopped', workLost: true });
});

const reason = 'Number 3 in the queue of the cluster';
const pending: Observed = { state: 'pending', reason };
test.each<[string, Partial<Workload>, Observed, Partial<Step>]>([
  ["adopts an attempt in its driver's queue", { state: 'scheduling' }, pending, { do: 'wait', reason }],
  ['reports what its driver waits for', { state: 'queued' }, pending, { do: 'wait', reason }],
  ['reports it once', { state: 'queued', reason }, pending, { do: 'nothing' }],
  ['does not go back once it has reported', { state: 'ready' }, pending, { do: 'nothing' }],
  ['begins when its driver has begun it', { state: 'queued' }, { state: 'alive' }, { do: 'adopt' }],
  [
    'is retried if its driver has lost it',
    { state: 'queued' },
    { state: 'absent' },
    { do: 'requeue', failed: true, workLost: true },
  ],
])('%s', (_name, workload, observed, step) => {
  expect(plan({ ...running, ...workload }, observed)).toMatchObject(step);
});
