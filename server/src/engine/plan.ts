import type { EndState, Workload } from './workload.ts';

/** What a driver saw of the current attempt. */
export type Observed =
  /** It was never started, or nothing is left of it. */
  | { state: 'absent' }
  | { state: 'alive' }
  /** `exitCode` is null when nobody saw it end; `lastLine` is the last thing it printed. */
  | { state: 'ended'; exitCode: number | null; lastLine: string | null };

/** When the server could take in reports, as told by the beats of the processes that do (heartbeat.ts). */
export type Listening = {
  /** Since when without a break. */
  since: Date;
  /** The last beat. */
  until: Date;
};

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
/** Beats come every few seconds. Where they are farther apart, nobody listened in between. */
export const BEATS_APART_MAX_S = 15;
/** Says that the workload has saved its work and left because the server was out of reach (the runtime's cli.py). */
const SERVER_AWAY_STATUS = 75;

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
 * @param listening null: nobody has ever listened. Silence counts only while somebody listens without a break.
 */
export function plan(workload: Planned, observed: Observed, now: Date, listening: Listening | null): Step {
  if (workload.wanted === 'stopped') return planStop(workload, observed, now, listening);
  if (workload.state === 'queued') return { do: 'nothing' };
  if (workload.state === 'scheduling') return observed.state === 'alive' ? { do: 'adopt' } : { do: 'start' };
  const silence = silenceOf(workload, listening, now);
  if (observed.state === 'alive') return planAlive(workload, silence);
  if (observed.state === 'absent' && mayWorkElsewhere(workload, silence)) return planAlive(workload, silence);
  return planEnded(workload, observed);
}

/** For how long it could have been heard, and was not. */
function silenceOf(workload: Planned, listening: Listening | null, now: Date): number {
  return Math.min(
    secondsBetween(workload.lastReportAt, now),
    secondsBetween(workload.attemptStartedAt, now),
    secondsListening(listening, now),
  );
}

function planStop(workload: Planned, observed: Observed, now: Date, listening: Listening | null): Step {
  const waited = Math.min(secondsBetween(workload.stopRequestedAt, now), secondsListening(listening, now));
  const isLate = waited > STOP_GRACE_S[workload.behaviour];
  const hasBegun = workload.state !== 'queued' && workload.state !== 'scheduling';
  const mayWork = hasBegun && mayWorkElsewhere(workload, silenceOf(workload, listening, now)) && !isLate;
  if (observed.state === 'ended' || (observed.state === 'absent' && !mayWork)) {
    if (workload.outcome?.type === 'result') return completed;
    return { do: 'end', state: 'stopped', reason: workload.stopReason ?? '' };
  }
  if (workload.state !== 'stopping') return { do: 'stop' };
  if (isLate) {
    return { do: 'kill', reason: `${workload.stopReason ?? 'Stopped'}. It did not end by itself in time` };
  }
  return { do: 'nothing' };
}

/**
 * That a machine has nothing of an attempt says only that it is not there. While it is heard it works
 * on the machine of a server that had the work of this database before, and is not begun again.
 */
function mayWorkElsewhere({ outcome, interrupted }: Planned, silence: number): boolean {
  return outcome === null && !interrupted && !isHung(silence);
}

/** A break that is too short to be seen in the beats does not shorten anybody's time. */
function isHung(silence: number): boolean {
  return silence > SILENT_HUNG_S + BEATS_APART_MAX_S;
}

/** For how long there has been listening without a break; 0 while nobody listens. */
function secondsListening(listening: Listening | null, now: Date): number {
  if (listening === null || secondsBetween(listening.until, now) > BEATS_APART_MAX_S) return 0;
  return secondsBetween(listening.since, now);
}

function planAlive(workload: Planned, silence: number): Step {
  if (workload.outcome !== null) {
    return silence > LEAVE_AFTER_RESULT_S
      ? { do: 'kill', reason: 'It reported its result but did not exit' }
      : { do: 'nothing' };
  }
  if (isHung(silence)) return { do: 'kill', reason: `It was silent for ${SILENT_HUNG_S / 60} minutes` };
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
  if (observed.state === 'ended' && observed.exitCode === SERVER_AWAY_STATUS) {
    const reason = 'It could not reach the server, and left after saving its work';
    return { do: 'requeue', reason, delaySeconds: BACKOFF_FIRST_S, failed: false };
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
      reason: `${why} It was started ${failures} times without getting any further.`,
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
