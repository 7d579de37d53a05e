import type { EndState, Workload } from './workload.ts';

/** What a driver saw of the current attempt. */
export type Observed =
  /** It was never started, or nothing is left of it. */
  | { state: 'absent' }
  | { state: 'alive' }
  /** `exitCode` is null when nobody saw it end; `lastLine` is the last thing it printed. */
  | { state: 'ended'; exitCode: number | null; lastLine: string | null };

export type Step =
  | { do: 'nothing' }
  /** Begin the next attempt. */
  | { do: 'start' }
  /** The attempt was begun by somebody who could not say so any more. */
  | { do: 'adopt' }
  | { do: 'stop' }
  | { do: 'kill'; reason: string }
  | { do: 'degrade'; reason: string }
  /** Give the slot back and wait for another one. */
  | { do: 'requeue'; reason: string; delaySeconds: number; failed: boolean }
  | { do: 'end'; state: EndState; reason: string };

/**
 * Failures in a row, without a checkpoint or a while of service between them, that end a workload.
 * A deployment that has ever been ready is never given up: that its machine is in trouble says
 * nothing against it, and it will do again once that is over.
 */
export const FAILURES_MAX = 5;
const BACKOFF_FIRST_S = 5;
const BACKOFF_LONGEST_S = 300;
/** A process that has uploaded its result, or was asked to stop, may take this long to leave. */
const LEAVE_AFTER_RESULT_S = 60;
const STOP_GRACE_S = { run: 120, deployment: 20 };
const SILENT_DEGRADED_S = 20;
const SILENT_HUNG_S = 300;

type Planned = Pick<
  Workload,
  | 'behaviour'
  | 'wanted'
  | 'state'
  | 'outcome'
  | 'interrupted'
  | 'failures'
  | 'readyAt'
  | 'attemptStartedAt'
  | 'lastReportAt'
  | 'stopRequestedAt'
  | 'stopReason'
>;

/**
 * What has to be done next to bring a workload where it is wanted. Pure.
 * @param listeningSince since when this server could have heard reports: silence before is no sign.
 */
export function plan(workload: Planned, observed: Observed, now: Date, listeningSince: Date): Step {
  if (workload.wanted === 'stopped') return planStop(workload, observed, now);
  if (workload.state === 'queued') return { do: 'nothing' };
  if (workload.state === 'scheduling') return observed.state === 'alive' ? { do: 'adopt' } : { do: 'start' };
  if (observed.state === 'alive') return planAlive(workload, now, listeningSince);
  return planEnded(workload, observed);
}

function planStop(workload: Planned, observed: Observed, now: Date): Step {
  if (observed.state !== 'alive') {
    if (workload.outcome?.type === 'result') return completed;
    return { do: 'end', state: 'stopped', reason: workload.stopReason ?? '' };
  }
  if (workload.state !== 'stopping') return { do: 'stop' };
  if (secondsBetween(workload.stopRequestedAt, now) > STOP_GRACE_S[workload.behaviour]) {
    return { do: 'kill', reason: `${workload.stopReason ?? 'Stopped'}. It did not end by itself in time` };
  }
  return { do: 'nothing' };
}

function planAlive(workload: Planned, now: Date, listeningSince: Date): Step {
  const silence = Math.min(
    secondsBetween(workload.lastReportAt, now),
    secondsBetween(workload.attemptStartedAt, now),
    secondsBetween(listeningSince, now),
  );
  if (workload.outcome !== null) {
    return silence > LEAVE_AFTER_RESULT_S
      ? { do: 'kill', reason: 'It had said its last word' }
      : { do: 'nothing' };
  }
  if (silence > SILENT_HUNG_S)
    return { do: 'kill', reason: `It was silent for ${SILENT_HUNG_S / 60} minutes` };
  if (silence > SILENT_DEGRADED_S && workload.state === 'ready') {
    return { do: 'degrade', reason: `It has been silent for more than ${SILENT_DEGRADED_S} seconds` };
  }
  return { do: 'nothing' };
}

function planEnded(workload: Planned, observed: Exclude<Observed, { state: 'alive' }>): Step {
  const { outcome, behaviour } = workload;
  if (outcome?.type === 'result') return completed;
  if (outcome?.type === 'stopped' || workload.interrupted) {
    const reason =
      behaviour === 'run' ? 'Interrupted by the server. It goes on from its last checkpoint' : 'Restarting';
    return { do: 'requeue', reason, delaySeconds: 0, failed: false };
  }
  // What a run says about itself is final: the same data would end it again.
  if (outcome?.type === 'failed' && !isProven(workload)) {
    return { do: 'end', state: 'failed', reason: outcome.message };
  }
  return planAfterFailure(workload, outcome?.type === 'failed' ? outcome.message : describeEnd(observed));
}

/** Another attempt after a pause that doubles each time, or the end after too many. Pure. */
export function planAfterFailure(
  workload: Pick<Workload, 'behaviour' | 'failures' | 'readyAt'>,
  why: string,
): Step {
  const failures = workload.failures + 1;
  if (failures >= FAILURES_MAX && !isProven(workload)) {
    return {
      do: 'end',
      state: 'failed',
      reason: `${why} It was started ${failures} times and came no further.`,
    };
  }
  const delaySeconds = Math.min(BACKOFF_FIRST_S * 2 ** workload.failures, BACKOFF_LONGEST_S);
  const then = workload.behaviour === 'run' ? 'It goes on from its last checkpoint' : 'It starts again';
  return { do: 'requeue', reason: `${why} ${then} in ${delaySeconds} s.`, delaySeconds, failed: true };
}

const completed: Step = { do: 'end', state: 'completed', reason: 'Completed' };

/** Whether it is a deployment that has been ready, in whichever attempt: its spec, which never changes, can do. */
function isProven({ behaviour, readyAt }: Pick<Workload, 'behaviour' | 'readyAt'>): boolean {
  return behaviour === 'deployment' && readyAt !== null;
}

function describeEnd(observed: Exclude<Observed, { state: 'alive' }>): string {
  if (observed.state === 'absent' || observed.exitCode === null) return 'Its process is gone.';
  if (observed.exitCode === 137) return 'It was killed, perhaps because the memory did not suffice.';
  const said = observed.lastLine ? `: ${observed.lastLine.replace(/\.$/, '')}` : '';
  return `It ended unexpectedly with status ${observed.exitCode}${said}.`;
}

function secondsBetween(from: Date | null, to: Date): number {
  return from === null ? Number.POSITIVE_INFINITY : (to.getTime() - from.getTime()) / 1000;
}
