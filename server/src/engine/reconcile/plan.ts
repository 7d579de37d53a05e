import type { EndedBy, Observed } from '../model/observed.ts';
import type { Listening, Span } from '../model/span.ts';
import { type EndState, isWithDriver, type KillCause, latest, type Workload } from '../model/workload.ts';

export type Step =
  | { do: 'nothing' }
  /** Start the next attempt. */
  | { do: 'start' }
  /** Record that the attempt runs: it was started, but that was not recorded. */
  | { do: 'adopt' }
  /** The driver has not begun the attempt yet; `reason` explains why. */
  | { do: 'wait'; reason: string }
  | { do: 'stop' }
  /** Answer the next report with a request to finish open requests and exit. */
  | { do: 'drain' }
  | { do: 'kill'; cause: KillCause; reason: string }
  | { do: 'degrade'; reason: string }
  /** Set the reason that is shown while the workload runs; '' removes it. */
  | { do: 'explain'; reason: string }
  /** Release the slot and wait for another one. `workLost`: nothing of its work remains on the machine. */
  | { do: 'requeue'; reason: string; delaySeconds: number; failed: boolean; workLost?: true }
  | { do: 'end'; state: EndState; reason: string; workLost?: true };

/**
 * Number of consecutive failures that end a workload. A checkpoint or ten minutes of service resets the
 * count. A deployment that was ever ready is retried forever: its spec works, so the machine must be the
 * cause.
 */
export const FAILURES_MAX = 5;
const BACKOFF_FIRST_S = 5;
const BACKOFF_LONGEST_S = 300;
/** Longest pause after a failed start. Short, so that work starts soon after the cause is fixed. */
const START_BACKOFF_LONGEST_S = 60;
/** How long a process may take to exit after it uploaded its result or was asked to stop. */
const LEAVE_AFTER_RESULT_S = 60;
const STOP_GRACE_S = { run: 120, deployment: 20 };
/** Longer, because a process that hardly gets CPU time needs longer to save its work. */
const STARVED_GRACE_S = 900;
const SILENT_DEGRADED_S = 20;
const SILENT_HUNG_S = 300;
/** Applies even to servers that report: one that hangs while loading would hold its GPUs forever. */
const READY_WITHIN_S = 3600;
/** Why a workload was killed. Shown as the cause of its end instead of its output. */
const KILLED: Record<Exclude<KillCause, 'overdue'>, string> = {
  lingering: 'It reported its result but did not exit',
  silent: `It was silent for ${SILENT_HUNG_S / 60} minutes`,
  loading: `It was not ready within ${READY_WITHIN_S / 60} minutes`,
  unreachable: 'The server process that it reported to has ended',
};
/** Ends that others caused. Not running out of memory: such work would exceed its memory each time. */
const ENDED_BY: Record<Exclude<EndedBy, 'itself' | 'oom'>, string> = {
  preempted: 'Work with a higher priority replaced it.',
  evicted: 'Its machine was drained.',
  node_lost: 'Its machine was lost.',
  image: 'Its image could not be pulled.',
};
/** Reason shown for a run that is alive but hardly gets CPU time. */
const STARVED = 'Waiting for processor time: other programs keep this machine busy.';
/** Exit status of a workload that saved its work because the server was unreachable (cli.py). */
const SERVER_AWAY_STATUS = 75;

type Planned = Pick<
  Workload,
  | 'behaviour'
  | 'wanted'
  | 'state'
  | 'devices'
  | 'reason'
  | 'outcome'
  | 'interrupted'
  | 'killedFor'
  | 'failures'
  | 'readyAt'
  | 'attemptStartedAt'
  | 'lastReportAt'
  | 'stopRequestedAt'
  | 'stopReason'
  | 'drainSeconds'
  | 'savedSeconds'
  | 'checkpointSeconds'
>;

/**
 * Returns the next step towards a workload's desired state.
 * @param listening Periods up to the last heartbeat in which its reports were accepted without a gap; null
 * before the first heartbeat.
 */
export function plan(workload: Planned, observed: Observed, listening: Listening | null): Step {
  if (workload.wanted === 'stopped') return planStop(workload, observed, listening);
  if (workload.state === 'queued' && !isWithDriver(workload)) return { do: 'nothing' };
  // The last attempt was abandoned, so start another even if something remains of it: its token is no longer
  // valid.
  if (workload.state === 'scheduling' && workload.attemptStartedAt === null) return { do: 'start' };
  if (observed.state === 'pending') return planPending(workload, observed.reason);
  if (workload.state === 'scheduling') return observed.state === 'alive' ? { do: 'adopt' } : { do: 'start' };
  if (observed.state === 'alive')
    return isWithDriver(workload) ? { do: 'adopt' } : planAlive(workload, observed, listening);
  if (!isFolderGone(observed)) return planEnded(workload, observed);
  // The folder is gone, so plan with what was uploaded.
  const step = planEnded({ ...workload, savedSeconds: workload.checkpointSeconds }, observed);
  const mayGoOn = step.do === 'requeue' || (step.do === 'end' && step.state === 'failed');
  return mayGoOn ? { ...step, workLost: true } : step;
}

/**
 * Returns a step only if the reason changed. If the attempt has already reported, it has begun, and the
 * observation is outdated.
 */
function planPending(workload: Planned, reason: string): Step {
  if (workload.state !== 'scheduling' && !isWithDriver(workload)) return { do: 'nothing' };
  const isKnown = isWithDriver(workload) && workload.reason === reason;
  return isKnown ? { do: 'nothing' } : { do: 'wait', reason };
}

/** True if none of the attempt's work remains on the machine. */
function isFolderGone(observed: Extract<Observed, { state: 'absent' | 'ended' }>): boolean {
  return observed.state === 'absent' || observed.folder === 'gone';
}

/** True if the attempt has a process, or will have one without another start. */
function isThere(observed: Observed): observed is Extract<Observed, { state: 'alive' | 'pending' }> {
  return observed.state === 'alive' || observed.state === 'pending';
}

/**
 * Returns the seconds in which the workload could have reported but did not. Counts only up to the last
 * heartbeat, because it is unknown whether reports could be accepted after that.
 */
function silenceOf(workload: Planned, listening: Listening | null): number {
  const since = latest(workload.lastReportAt, workload.attemptStartedAt);
  return secondsListenedSince(since, listening?.there ?? null);
}

/** Returns for how many seconds others have accepted reports since the workload's server was last seen. */
function unreachableFor(listening: Listening | null): number {
  return listening ? secondsListenedSince(listening.there.until, listening.anywhere) : 0;
}

/** Returns the seconds since `then` in which reports were accepted without a gap. */
function secondsListenedSince(then: Date | null, listening: Span | null): number {
  if (listening === null) return 0;
  const from = latest(then, listening.since) ?? listening.since;
  return Math.max(0, (listening.until.getTime() - from.getTime()) / 1000);
}

function planStop(workload: Planned, observed: Observed, listening: Listening | null): Step {
  if (!isThere(observed)) {
    if (workload.outcome?.type === 'result') return completed;
    if (workload.state === 'queued' && workload.outcome?.type === 'failed')
      return { do: 'end', state: 'failed', reason: workload.outcome.message };
    const end: Step = { do: 'end', state: 'stopped', reason: workload.stopReason ?? '' };
    // An attempt that has not begun did no work. The work that earlier attempts saved remains.
    const hadBegun = workload.state !== 'queued' && workload.state !== 'scheduling';
    return hadBegun && isFolderGone(observed) ? { ...end, workLost: true } : end;
  }
  const { stopReason, drainSeconds } = workload;
  if (workload.state !== 'stopping') {
    return { do: drainSeconds > 0 && observed.state === 'alive' ? 'drain' : 'stop' };
  }
  const waited = secondsListenedSince(workload.stopRequestedAt, listening?.anywhere ?? null);
  const silence = Math.max(silenceOf(workload, listening), unreachableFor(listening));
  const hangs = drainSeconds > 0 && silence > SILENT_HUNG_S;
  const starved = observed.state === 'alive' && observed.starved === true;
  const graceS = starved ? STARVED_GRACE_S : STOP_GRACE_S[workload.behaviour];
  if (hangs || waited > drainSeconds + graceS) {
    const reason = `${stopReason ?? 'Stopped'}. It did not end by itself in time`;
    return { do: 'kill', cause: 'overdue', reason };
  }
  return { do: 'nothing' };
}

function planAlive(
  workload: Planned,
  { starved }: Extract<Observed, { state: 'alive' }>,
  listening: Listening | null,
): Step {
  const silence = silenceOf(workload, listening);
  const isUnreachable = unreachableFor(listening) > SILENT_HUNG_S;
  if (workload.outcome !== null) {
    return silence > LEAVE_AFTER_RESULT_S || isUnreachable ? kill('lingering') : { do: 'nothing' };
  }
  if (isUnreachable) return kill('unreachable');
  // A workload that gets no CPU time cannot report.
  if (starved) return workload.reason === STARVED ? { do: 'nothing' } : { do: 'explain', reason: STARVED };
  if (silence > SILENT_HUNG_S) return kill('silent');
  const isLoading = workload.behaviour === 'deployment' && workload.state === 'starting';
  const loaded = secondsListenedSince(workload.attemptStartedAt, listening?.anywhere ?? null);
  if (isLoading && loaded > READY_WITHIN_S) return kill('loading');
  if (silence > SILENT_DEGRADED_S && workload.state === 'ready') {
    return { do: 'degrade', reason: `It has been silent for more than ${SILENT_DEGRADED_S} seconds` };
  }
  return workload.reason === STARVED ? { do: 'explain', reason: '' } : { do: 'nothing' };
}

function kill(cause: keyof typeof KILLED): Step {
  return { do: 'kill', cause, reason: KILLED[cause] };
}

function planEnded(workload: Planned, observed: Extract<Observed, { state: 'absent' | 'ended' }>): Step {
  const { outcome, behaviour } = workload;
  if (outcome?.type === 'result') return completed;
  const byOthers = endedByOthers(workload, observed);
  if (byOthers !== null) {
    // Wait long, because a missing image is unlikely to appear soon.
    const delaySeconds =
      observed.state === 'ended' && observed.by === 'image' ? BACKOFF_LONGEST_S : BACKOFF_FIRST_S;
    const reason = `${byOthers} ${describeNextAttempt(workload)} in ${delaySeconds} s.`;
    return { do: 'requeue', reason, delaySeconds, failed: false };
  }
  if (outcome?.type === 'stopped' || workload.interrupted) {
    const reason =
      behaviour === 'run' ? `Interrupted by the server. ${describeNextAttempt(workload)}` : 'Restarting';
    return { do: 'requeue', reason, delaySeconds: 0, failed: false };
  }
  if (outcome === null && workload.killedFor === 'unreachable') {
    const reason = `${KILLED.unreachable}. ${describeNextAttempt(workload)}`;
    return { do: 'requeue', reason, delaySeconds: 0, failed: false };
  }
  if (observed.state === 'ended' && observed.exitCode === SERVER_AWAY_STATUS) {
    const why = observed.lastLine ?? 'The Bakehouse server has been out of reach too long.';
    const reason = `${why} ${describeNextAttempt(workload)} in ${BACKOFF_FIRST_S} s.`;
    return { do: 'requeue', reason, delaySeconds: BACKOFF_FIRST_S, failed: false };
  }
  // A failure that a run reports itself is final, because the same data would fail again.
  if (outcome?.type === 'failed' && !isProven(workload)) {
    return { do: 'end', state: 'failed', reason: outcome.message };
  }
  const why =
    outcome?.type === 'failed' ? outcome.message : (describeKill(workload) ?? describeEnd(observed));
  if (isStalledStart(workload) && workload.failures > 0) {
    const hint = 'Its chat template may never end.';
    return {
      do: 'end',
      state: 'failed',
      reason: `${why} ${hint} It was started ${workload.failures + 1} times.`,
    };
  }
  return planAfterFailure(workload, why);
}

/**
 * True for a model server that fell silent and was never ready in any attempt, for example because its chat
 * template never ends. Another start would end in the same way.
 */
function isStalledStart({ behaviour, killedFor, readyAt }: Planned): boolean {
  return behaviour === 'deployment' && killedFor === 'silent' && readyAt === null;
}

/** Returns another attempt after a pause that doubles each time, or the end after too many failures. */
export function planAfterFailure(
  workload: Pick<Workload, 'behaviour' | 'failures' | 'readyAt' | 'savedSeconds'>,
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
  const reason = `${why} ${describeNextAttempt(workload)} in ${delaySeconds} s.`;
  return { do: 'requeue', reason, delaySeconds, failed: true };
}

/**
 * Returns another attempt after a pause, because the machine or the database failed, not the workload. Does
 * not count as a failure of the workload. Other work may take its slot.
 */
export function planUnstarted({ attempt }: Pick<Workload, 'attempt'>, cause: string | null): Step {
  const delaySeconds = Math.min(BACKOFF_FIRST_S * 2 ** (attempt - 1), START_BACKOFF_LONGEST_S);
  const why = cause === null ? '' : `: ${cause}`;
  const reason = `It could not be started${why}. Trying again in ${delaySeconds} s at the earliest.`;
  return { do: 'requeue', reason, delaySeconds, failed: false };
}

const completed: Step = { do: 'end', state: 'completed', reason: 'Completed' };

/** True for a deployment that was ever ready. That proves that its spec works, which never changes. */
function isProven({ behaviour, readyAt }: Pick<Workload, 'behaviour' | 'readyAt'>): boolean {
  return behaviour === 'deployment' && readyAt !== null;
}

/** Says how the next attempt begins: from the last checkpoint, if there is one. */
function describeNextAttempt({
  behaviour,
  savedSeconds,
}: Pick<Workload, 'behaviour' | 'savedSeconds'>): string {
  return behaviour === 'run' && savedSeconds > 0 ? 'It resumes from its last checkpoint' : 'It starts again';
}

/**
 * Returns a sentence if others ended the attempt, so that its end is no failure. Returns null if it ended on
 * its own or we killed it.
 */
function endedByOthers(
  { outcome, killedFor }: Planned,
  observed: Extract<Observed, { state: 'absent' | 'ended' }>,
): string | null {
  if (outcome?.type === 'failed' || killedFor !== null || observed.state === 'absent') return null;
  return observed.by === 'itself' || observed.by === 'oom' ? null : ENDED_BY[observed.by];
}

/** Returns why the engine killed the attempt, or null. */
function describeKill({ killedFor }: Pick<Workload, 'killedFor'>): string | null {
  return killedFor === null || killedFor === 'overdue' ? null : `${KILLED[killedFor]}.`;
}

function describeEnd(observed: Extract<Observed, { state: 'absent' | 'ended' }>): string {
  if (observed.state === 'absent' || observed.exitCode === null) return 'Its process has disappeared.';
  if (observed.by === 'oom') return 'It exceeded its memory limit.';
  if (observed.exitCode === 137) return 'It was killed, possibly because it ran out of memory.';
  const lastLine = observed.lastLine ? `: ${observed.lastLine.replace(/\.$/, '')}` : '';
  return `It ended unexpectedly with status ${observed.exitCode}${lastLine}.`;
}
