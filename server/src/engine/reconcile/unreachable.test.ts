import { expect, test } from 'vitest';
import type { Observed } from '../model/observed.ts';
import { plan } from './plan.ts';

const start = new Date('2026-01-01T00:00:00Z');
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const span = (seconds: number) => ({ since: start, until: after(seconds) });
/** The workload's own server was last seen after 10 s; others accepted reports for `seconds` longer. */
const gone = (seconds: number) => ({ anywhere: span(10 + seconds), there: span(10) });

const running: Parameters<typeof plan>[0] = {
  behaviour: 'run',
  wanted: 'running',
  state: 'ready',
  devices: [],
  reason: '',
  outcome: null,
  interrupted: false,
  killedFor: null,
  failures: 0,
  readyAt: start,
  attemptStartedAt: start,
  lastReportAt: after(10),
  stopRequestedAt: null,
  stopReason: null,
  drainSeconds: 0,
  savedSeconds: 8,
  checkpointSeconds: 8,
};
const deployment = { ...running, behaviour: 'deployment' } as const;
const stopping = {
  ...running,
  state: 'stopping',
  wanted: 'stopped',
  stopRequestedAt: after(5),
  stopReason: 'Cancelled',
} as const;
const alive: Observed = { state: 'alive' };
const vanished: Observed = { state: 'ended', by: 'itself', exitCode: null, lastLine: null, folder: 'kept' };

test('work whose server is gone restarts with another one, which does not count as a failure', () => {
  expect(plan(running, alive, gone(300)).do).toBe('nothing');
  expect(plan(running, alive, gone(301))).toMatchObject({ do: 'kill', cause: 'unreachable' });
  // Silence does not count, because the deployment's own server could not accept reports.
  expect(plan(deployment, alive, gone(301))).toMatchObject({ cause: 'unreachable' });
  const listening = { anywhere: span(400), there: span(10) };
  expect(plan({ ...running, killedFor: 'unreachable' }, vanished, listening)).toEqual({
    do: 'requeue',
    reason: 'The server process that it reported to has ended. It resumes from its last checkpoint',
    delaySeconds: 0,
    failed: false,
  });
  // A stop does not depend on reports.
  expect(plan(stopping, alive, gone(121))).toMatchObject({ do: 'kill', cause: 'overdue' });
});

test('work whose folder is gone restarts from the beginning, unless a checkpoint was uploaded', () => {
  const killed = { ...running, killedFor: 'unreachable' } as const;
  const planWith = (checkpointSeconds: number) =>
    plan({ ...killed, checkpointSeconds }, { state: 'absent' }, gone(301));
  expect(planWith(8)).toMatchObject({
    reason: expect.stringContaining('It resumes from its last checkpoint'),
  });
  expect(planWith(0)).toMatchObject({ reason: expect.stringContaining('It starts again'), workLost: true });
});
