import { describe, expect, test } from 'vitest';
import type { Observed } from '../model/observed.ts';
import type { Span } from '../model/span.ts';
import type { Workload } from '../model/workload.ts';
import { FAILURES_MAX, planAfterFailure, plan as planListening, planUnstarted, type Step } from './plan.ts';

const start = new Date('2026-01-01T00:00:00Z');
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const now = after(10);
/** Reports were accepted without a gap from `start` until `until`. */
const heardUntil = (until: Date): Span => ({ since: start, until });

/** Plans for a workload whose reports any process can accept. */
const plan = (workload: Parameters<typeof planListening>[0], observed: Observed, span: Span | null) =>
  planListening(workload, observed, span && { anywhere: span, there: span });

const running: Parameters<typeof plan>[0] = {
  behaviour: 'run',
  wanted: 'running',
  state: 'ready',
  devices: [],
  outcome: null,
  interrupted: false,
  killedFor: null,
  reason: '',
  failures: 0,
  readyAt: start,
  attemptStartedAt: start,
  lastReportAt: now,
  stopRequestedAt: null,
  stopReason: null,
  drainSeconds: 0,
  savedSeconds: 8,
  checkpointSeconds: 8,
};
const stopping = {
  ...running,
  wanted: 'stopped',
  stopRequestedAt: after(5),
  stopReason: 'Cancelled',
} as const;
const deployment = { ...running, behaviour: 'deployment' } as const;
const draining = { ...stopping, behaviour: 'deployment', drainSeconds: 600 } as const;

const absent: Observed = { state: 'absent' };
const pending: Observed = { state: 'pending', reason: 'Number 3 in the queue of the cluster' };
const alive: Observed = { state: 'alive' };
const left = { state: 'ended', by: 'itself', folder: 'kept' } as const;
const ended: Observed = { ...left, exitCode: 1, lastLine: 'No such column' };
const vanished: Observed = { ...left, exitCode: null, lastLine: null };

const said = { seq: 9, at: '2026-01-01T00:00:09Z' };
const result: Workload['outcome'] = { ...said, type: 'result', files: [], summary: {} };
const failed: Workload['outcome'] = { ...said, type: 'failed', message: 'The file holds no rows.' };
const stopped: Workload['outcome'] = { ...said, type: 'stopped', step: 4 };

const goOn: Step = {
  do: 'requeue',
  reason: 'Interrupted by the server. It resumes from its last checkpoint',
  delaySeconds: 0,
  failed: false,
};

describe('plan', () => {
  test.each<[string, Partial<Parameters<typeof plan>[0]>, Observed, Partial<Step>]>([
    ['waits in the queue', { ...running, state: 'queued', devices: null }, absent, { do: 'nothing' }],
    ['starts with a slot', { ...running, state: 'scheduling' }, absent, { do: 'start' }],
    ['starts again after an earlier attempt', { ...running, state: 'scheduling' }, ended, { do: 'start' }],
    ['adopts a start that was not recorded', { ...running, state: 'scheduling' }, alive, { do: 'adopt' }],
    ["removes it from its driver's queue", { ...stopping, state: 'starting' }, pending, { do: 'stop' }],
    ['lets it pull', { ...running, state: 'pulling', readyAt: null }, alive, { do: 'nothing' }],
    ['lets it load', { ...running, state: 'starting', readyAt: null }, alive, { do: 'nothing' }],
    ['lets it work', running, alive, { do: 'nothing' }],
    ['lets it exit after its result', { ...running, outcome: result }, alive, { do: 'nothing' }],

    ['completes with a result', { ...running, outcome: result }, ended, { do: 'end', state: 'completed' }],
    [
      'completes even if its end was not observed',
      { ...running, outcome: result },
      absent,
      { do: 'end', state: 'completed' },
    ],
    [
      'counts saved work of a failed attempt as lost if nothing remains of it',
      { ...running, outcome: failed },
      absent,
      { do: 'end', state: 'failed', workLost: true },
    ],
    [
      'fails with its own message',
      { ...running, outcome: failed },
      ended,
      { do: 'end', state: 'failed', reason: 'The file holds no rows.' },
    ],
    ['resumes after saving on our request', { ...running, outcome: stopped }, ended, goOn],
    [
      'resumes after our shutdown, even if its last report was lost',
      { ...running, interrupted: true },
      vanished,
      goOn,
    ],
    [
      'restarts if nothing was saved yet',
      { ...running, interrupted: true, savedSeconds: 0 },
      vanished,
      { ...goOn, reason: 'Interrupted by the server. It starts again' },
    ],
    [
      'is retried after a crash',
      running,
      ended,
      {
        do: 'requeue',
        failed: true,
        delaySeconds: 5,
        reason:
          'It ended unexpectedly with status 1: No such column. It resumes from its last checkpoint in 5 s.',
      },
    ],
    [
      'is retried after a kill',
      running,
      { ...left, exitCode: 137, lastLine: 'x' },
      {
        do: 'requeue',
        reason:
          'It was killed, possibly because it ran out of memory. It resumes from its last checkpoint in 5 s.',
      },
    ],
    [
      'reports why we killed it',
      { ...running, state: 'degraded', killedFor: 'silent' },
      vanished,
      {
        do: 'requeue',
        failed: true,
        reason: 'It was silent for 5 minutes. It resumes from its last checkpoint in 5 s.',
      },
    ],
    [
      'does not blame its end on an earlier silence',
      { ...running, state: 'degraded' },
      vanished,
      { do: 'requeue', reason: 'Its process has disappeared. It resumes from its last checkpoint in 5 s.' },
    ],
    [
      'resumes if it exited because the server was unreachable',
      running,
      { ...left, exitCode: 75, lastLine: null },
      {
        do: 'requeue',
        failed: false,
        delaySeconds: 5,
        reason:
          'The Bakehouse server has been out of reach too long. It resumes from its last checkpoint in 5 s.',
      },
    ],
    [
      'reports which request the server rejected',
      running,
      {
        ...left,
        exitCode: 75,
        lastLine: 'The Bakehouse server did not take the file a: it answers with 507.',
      },
      {
        do: 'requeue',
        failed: false,
        reason:
          'The Bakehouse server did not take the file a: it answers with 507. It resumes from its last checkpoint in 5 s.',
      },
    ],
    [
      'restarts if its machine no longer has it',
      running,
      absent,
      {
        do: 'requeue',
        failed: true,
        reason: 'Its process has disappeared. It resumes from its last checkpoint in 5 s.',
      },
    ],
    [
      'restarts if this machine has nothing of it after the server ended it',
      { ...running, interrupted: true },
      absent,
      goOn,
    ],
    [
      'fails permanently after too many failures',
      { ...running, failures: FAILURES_MAX - 1 },
      vanished,
      {
        do: 'end',
        state: 'failed',
        reason: 'Its process has disappeared. It was started 5 times without getting any further.',
      },
    ],

    [
      'fails a server that could not load',
      { ...deployment, state: 'starting', readyAt: null, outcome: failed },
      ended,
      { do: 'end', state: 'failed' },
    ],
    [
      'fails a server that was never ready',
      { ...deployment, state: 'starting', readyAt: null, failures: FAILURES_MAX - 1 },
      vanished,
      { do: 'end', state: 'failed' },
    ],
    [
      'restarts a server that was ready once and cannot load now',
      { ...deployment, state: 'starting', readyAt: start, attemptStartedAt: after(1), outcome: failed },
      ended,
      { do: 'requeue', failed: true },
    ],
    [
      'restarts a server that was ready, however often it fails',
      { ...deployment, state: 'starting', failures: 2000 },
      vanished,
      {
        do: 'requeue',
        failed: true,
        delaySeconds: 300,
        reason: 'Its process has disappeared. It starts again in 300 s.',
      },
    ],
    [
      'restarts a server that had answered',
      { ...deployment, outcome: failed },
      ended,
      { do: 'requeue', failed: true, reason: 'The file holds no rows. It starts again in 5 s.' },
    ],
    [
      'restarts a server that left by itself',
      deployment,
      { ...left, exitCode: 0, lastLine: null },
      { do: 'requeue', failed: true },
    ],

    [
      'ends at once what waits',
      { ...stopping, state: 'queued', devices: null },
      absent,
      { do: 'end', state: 'stopped', reason: 'Cancelled' },
    ],
    [
      'ends at once what has not begun',
      { ...stopping, state: 'scheduling' },
      absent,
      { do: 'end', state: 'stopped' },
    ],
    ['asks to stop', stopping, alive, { do: 'stop' }],
    ['asks to stop while it loads', { ...stopping, state: 'starting' }, alive, { do: 'stop' }],
    ['lets it finish what it has begun', draining, alive, { do: 'drain' }],
    ['does not wait for what has not begun', draining, pending, { do: 'stop' }],
    ['ends what its machine does not have any more', stopping, absent, { do: 'end', state: 'stopped' }],
    ['waits while it saves', { ...stopping, state: 'stopping' }, alive, { do: 'nothing' }],
    [
      'ends when it has saved',
      { ...stopping, state: 'stopping', outcome: stopped },
      ended,
      { do: 'end', state: 'stopped' },
    ],
    [
      'ends stopped, whatever its last word',
      { ...stopping, state: 'stopping', outcome: failed },
      ended,
      { do: 'end', state: 'stopped' },
    ],
    [
      'keeps a result that came before the stop',
      { ...stopping, state: 'stopping', outcome: result },
      ended,
      { do: 'end', state: 'completed' },
    ],
  ])('%s', (_name, workload, observed, step) => {
    expect(plan({ ...running, ...workload }, observed, heardUntil(now))).toMatchObject(step);
  });

  test.each<[string, Partial<Parameters<typeof plan>[0]>, number, Partial<Step>]>([
    ['a short silence is ignored', running, 15, { do: 'nothing' }],
    ['silence degrades a ready workload', running, 40, { do: 'degrade' }],
    ['silence is ignored while loading', { ...running, state: 'starting' }, 40, { do: 'nothing' }],
    ['a hanging workload is killed', { ...running, state: 'degraded' }, 400, { do: 'kill' }],
    ['a workload that hangs while loading is killed', { ...running, state: 'pulling' }, 400, { do: 'kill' }],
    [
      'a workload that does not exit after its result is killed',
      { ...running, outcome: result },
      80,
      { do: 'kill' },
    ],
    ['a workload that does not stop is killed', { ...stopping, state: 'stopping' }, 200, { do: 'kill' }],
    [
      'a server has less time to stop',
      { ...stopping, state: 'stopping', behaviour: 'deployment' },
      40,
      { do: 'kill' },
    ],
  ])('%s', (_name, workload, seconds, step) => {
    const then = after(10 + seconds);
    expect(plan({ ...running, ...workload }, alive, heardUntil(then))).toMatchObject(step);
  });

  test('a draining deployment is killed when its time is up, or if it hangs', () => {
    const seen = (seconds: number, lastReportAt: Date) =>
      plan({ ...draining, state: 'stopping', lastReportAt }, alive, heardUntil(after(seconds))).do;
    expect(seen(620, after(610))).toBe('nothing');
    expect(seen(630, after(610))).toBe('kill');
    expect(seen(309, now)).toBe('nothing');
    expect(seen(311, now)).toBe('kill');
  });

  const away: [string, Span | null][] = [
    ['before the first heartbeat', null],
    ['while no process listens', heardUntil(after(20))],
    ['from before a process listened again', { since: after(3999), until: after(4000) }],
  ];
  test.each(away)('silence %s does not count', (_name, listening) => {
    expect(plan(running, alive, listening)).toEqual({ do: 'nothing' });
    expect(plan({ ...stopping, state: 'stopping' }, alive, listening)).toEqual({ do: 'nothing' });
  });

  test('silence counts only while reports can be accepted, and kills after 5 minutes', () => {
    const silent = { ...running, state: 'degraded', lastReportAt: after(600) } as const;
    const killed: [Span, boolean][] = [
      [{ since: start, until: after(900) }, false],
      [{ since: start, until: after(900.001) }, true],
      // No process could accept reports for a while after the last one.
      [{ since: after(1000), until: after(1300) }, false],
      [{ since: after(1000), until: after(1300.001) }, true],
    ];
    for (const [listening, isKilled] of killed) {
      expect(plan(silent, alive, listening).do, JSON.stringify(listening)).toBe(
        isKilled ? 'kill' : 'nothing',
      );
    }
  });

  test('a deployment that is not ready within an hour is killed, even if it reports', () => {
    const until = (seconds: number) => heardUntil(after(seconds));
    const loading = { ...deployment, state: 'starting', lastReportAt: after(3590) } as const;
    expect(plan(loading, alive, until(3600)).do).toBe('nothing');
    expect(plan(loading, alive, until(3601))).toEqual({
      do: 'kill',
      cause: 'loading',
      reason: 'It was not ready within 60 minutes',
    });
    expect(plan({ ...loading, behaviour: 'run' }, alive, until(3601)).do).toBe('nothing');
    expect(plan({ ...loading, state: 'ready' }, alive, until(3601)).do).toBe('nothing');
    expect(plan({ ...loading, state: 'queued' }, pending, until(3601)).do).toBe('wait');
  });

  test('pending work is never silent', () => {
    const waiting = { ...running, state: 'queued', lastReportAt: null } as const;
    expect(plan(waiting, pending, heardUntil(after(4000))).do).toBe('wait');
    expect(plan(waiting, alive, heardUntil(after(4000))).do).toBe('adopt');
  });

  test('the pause doubles up to a maximum', () => {
    const pauses = (workload: Pick<Workload, 'behaviour' | 'readyAt'>, count: number) =>
      Array.from({ length: count }, (_, failures) =>
        planAfterFailure({ ...workload, failures, savedSeconds: 0 }, ''),
      ).map((step) => (step.do === 'requeue' ? step.delaySeconds : null));
    expect(pauses({ behaviour: 'run', readyAt: start }, 5)).toEqual([5, 10, 20, 40, null]);
    expect(pauses({ behaviour: 'deployment', readyAt: null }, 5)).toEqual([5, 10, 20, 40, null]);
    expect(pauses({ behaviour: 'deployment', readyAt: start }, 8)).toEqual([
      5, 10, 20, 40, 80, 160, 300, 300,
    ]);
  });

  test('a failed start is retried forever, after at most a minute', () => {
    const steps = Array.from({ length: 100 }, (_, index) => planUnstarted({ attempt: index + 1 }, null));
    expect(steps.every((step) => step.do === 'requeue' && !step.failed)).toBe(true);
    const pauses = steps.map((step) => (step.do === 'requeue' ? step.delaySeconds : null));
    expect(pauses.slice(0, 6)).toEqual([5, 10, 20, 40, 60, 60]);
    expect(pauses.at(-1)).toBe(60);
  });
});
