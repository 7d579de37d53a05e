import { expect, test } from 'vitest';
import { plan } from './plan.ts';

const at = new Date('2026-01-01T00:00:00Z');
const stalled: Parameters<typeof plan>[0] = {
  behaviour: 'deployment',
  wanted: 'running',
  state: 'starting',
  devices: [],
  reason: '',
  outcome: null,
  interrupted: false,
  killedFor: 'silent',
  failures: 0,
  readyAt: null,
  attemptStartedAt: at,
  lastReportAt: null,
  stopRequestedAt: null,
  stopReason: null,
  drainSeconds: 0,
  savedSeconds: 0,
  checkpointSeconds: 0,
};
const gone = { state: 'ended', by: 'itself', exitCode: null, lastLine: null, folder: 'kept' } as const;

test('a model server that falls silent during its start is retried only once', () => {
  expect(plan(stalled, gone, null)).toMatchObject({ do: 'requeue', failed: true });
  expect(plan({ ...stalled, failures: 1 }, gone, null)).toEqual({
    do: 'end',
    state: 'failed',
    reason: 'It was silent for 5 minutes. Its chat template may never end. It was started 2 times.',
  });
});

test('a model server that was ready, and a run, are restarted like after any other failure', () => {
  expect(plan({ ...stalled, failures: 1, readyAt: at }, gone, null).do).toBe('requeue');
  expect(plan({ ...stalled, failures: 1, behaviour: 'run' }, gone, null).do).toBe('requeue');
});
