import type { EndedBy, Observed } from '../model/observed.ts';
import type { Listening, Span } from '../model/span.ts';
import { type EndState, isWithDriver, type KillCause, latest, type Workload } from '../model/workload.ts';

export type Step =
  | { do: 'nothing' }
  /** Begin the next attempt. */
  | { do: 'start' }
  /** The attempt was started, but that was not recorded. */
  | { do: 'adopt' }
  /** Its driver has not begun it yet. */
  | { do: 'wait'; reason: string }
  | { do: 'stop' }
  /** Its next report is answered with a request to finish its current work and exit. */
  | { do: 'drain' }
  | { do: 'kill'; cause: KillCause; reason: string }
  | { do: 'degrade'; reason: string }
  /** Sets what it waits for while it works; '' for nothing. */
  | { do: 'explain'; reason: string }
  /** Release the slot and wait for another one. `workLost`: none of its work remains on the machine. */
  | { do: 'requeue'; reason: string; delaySeconds: number; failed: boolean; workLost?: true }
  | { do: 'end'; state: EndState; reason: string; workLost?: true };

/**
 * Consecutive failures, without a checkpoint or proven service between them, that end a workload. A
 * deployment that was ever ready is retried forever: trouble of its machine is not its fault, and it will
 * work again afterwards.
 */
export const FAILURES_MAX = 5;
const BACKOFF_FIRST_S = 5;
const BACKOFF_LONGEST_S = 300;
/** The longest pause after a failed start, so that it is retried soon after the cause is fixed. */
const START_BACKOFF_LONGEST_S = 60;
/** How long a process may take to exit after it uploaded its result or was asked to stop. */
const LEAVE_AFTER_RESULT_S = 60;
const STOP_GRACE_S = { run: 120, deployment: 20 };
/** Without CPU time it cannot save its work as fast. */
const STARVED_GRACE_S = 900;
const SILENT_DEGRADED_S = 20;
const SILENT_HUNG_S = 300;
/** Also limits servers that report but hang while loading, which would hold their GPUs forever. */
const READY_WITHIN_S = 3600;
/** Why a workload is killed; explains its end better than its output. */
const KILLED: Record<Exclude<KillCause, 'overdue'>, string> = {
  lingering: 'It reported its result but did not exit',
  silent: `It was silent for ${SILENT_HUNG_S / 60} minutes`,
  loading: `It was not ready within ${READY_WITHIN_S / 60} minutes`,
  unreachable: 'The server process that it reported to has ended',
};
/** External causes of an end. Excludes memory: work that exceeds its memory five times always would. */
const ENDED_BY: Record<Exclude<EndedBy, 'itself' | 'oom'>, string> = {
  preempted: 'Work that goes before it has taken its place.',
  evicted: 'Its machine was cleared.',
  node_lost: 'Its machine is gone.',
  image: 'Its image could not be had.',
};
/** For a run that is alive but hardly gets CPU time. */
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
 * Returns the next step towards a workload's desired state. @param listening Period up to the last heartbeat
 * in which its reports were accepted without a gap (`newestGaplessSpan`); null if there is none.
 */
export function plan(workload: Planned, observed: Observed, listening: Listening | null): Step {
  if (workload.wanted === 'stopped') return planStop(workload, observed, listening);
  if (workload.state === 'queued' && !isWithDriver(workload)) return { do: 'nothing' };
  // The last attempt was abandoned with its token, whatever remains of it.
  if (workload.state === 'scheduling' && workload.attemptStartedAt === null) return { do: 'start' };
  if (observed.state === 'pending') return planPending(workload, observed.reason);
  if (workload.state === 'scheduling') return observed.state === 'alive' ? { do: 'adopt' } : { do: 'start' };
  if (observed.state === 'alive')
    return isWithDriver(workload) ? { do: 'adopt' } : planAlive(workload, observed, listening);
  if (!isFolderGone(observed)) return planEnded(workload, observed);
  // Only its upload remains.
  const step = planEnded({ ...workload, savedSeconds: workload.checkpointSeconds }, observed);
  const mayGoOn = step.do === 'requeue' || (step.do === 'end' && step.state === 'failed');
  return mayGoOn ? { ...step, workLost: true } : step;
}

/** Written only when the reason changes. An attempt that has reported has begun; the observation is older. */
function planPending(workload: Planned, reason: string): Step {
  if (workload.state !== 'scheduling' && !isWithDriver(workload)) return { do: 'nothing' };
  const isKnown = isWithDriver(workload) && workload.reason === reason;
  return isKnown ? { do: 'nothing' } : { do: 'wait', reason };
}

/** True if none of its work remains on the machine. */
function isFolderGone(observed: Extract<Observed, { state: 'absent' | 'ended' }>): boolean {
  return observed.state === 'absent' || observed.folder === 'gone';
}

/** True if there is a process, or will be without another start. */
function isThere(observed: Observed): observed is Extract<Observed, { state: 'alive' | 'pending' }> {
  return observed.state === 'alive' || observed.state === 'pending';
}

/**
 * Seconds in which it could have been heard and was not, up to the last heartbeat: it is unknown whether a
 * process has listened since.
 */
function silenceOf(workload: Planned, listening: Listening | null): number {
  const since = latest(workload.lastReportAt, workload.attemptStartedAt);
  return secondsListenedSince(since, listening?.there ?? null);
}

/** Seconds that other processes have listened since its own server was last seen. */
function unreachableFor(listening: Listening | null): number {
  return listening ? secondsListenedSince(listening.there.until, listening.anywhere) : 0;
}

/** Seconds since `then` in which reports were accepted without a gap. */
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
    // An attempt that has not begun produced nothing, and the work saved by earlier attempts remains.
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
  // It cannot report before it has begun.
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
    // A missing image is unlikely to appear soon.
    const delaySeconds =
      observed.state === 'ended' && observed.by === 'image' ? BACKOFF_LONGEST_S : BACKOFF_FIRST_S;
    const reason = `${byOthers} ${thenText(workload)} in ${delaySeconds} s.`;
    return { do: 'requeue', reason, delaySeconds, failed: false };
  }
  if (outcome?.type === 'stopped' || workload.interrupted) {
    const reason = behaviour === 'run' ? `Interrupted by the server. ${thenText(workload)}` : 'Restarting';
    return { do: 'requeue', reason, delaySeconds: 0, failed: false };
  }
  if (outcome === null && workload.killedFor === 'unreachable') {
    const reason = `${KILLED.unreachable}. ${thenText(workload)}`;
    return { do: 'requeue', reason, delaySeconds: 0, failed: false };
  }
  if (observed.state === 'ended' && observed.exitCode === SERVER_AWAY_STATUS) {
    const why = observed.lastLine ?? 'The Bakehouse server has been out of reach too long.';
    const reason = `${why} ${thenText(workload)} in ${BACKOFF_FIRST_S} s.`;
    return { do: 'requeue', reason, delaySeconds: BACKOFF_FIRST_S, failed: false };
  }
  // A run's own failure report is final: the same data would fail again.
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
 * True for a model server that was never ready and fell silent, for example over a chat template: another
 * start would end the same way.
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
  const reason = `${why} ${thenText(workload)} in ${delaySeconds} s.`;
  return { do: 'requeue', reason, delaySeconds, failed: true };
}

/**
 * Returns another attempt after a pause, for a start that failed because of the machine or the database. It
 * does not count as a failure of the workload, and other work may take its slot.
 */
export function planUnstarted({ attempt }: Pick<Workload, 'attempt'>, cause: string | null): Step {
  const delaySeconds = Math.min(BACKOFF_FIRST_S * 2 ** (attempt - 1), START_BACKOFF_LONGEST_S);
  const why = cause === null ? '' : `: ${cause}`;
  const reason = `It could not be started${why}. Trying again in ${delaySeconds} s at the earliest.`;
  return { do: 'requeue', reason, delaySeconds, failed: false };
}

const completed: Step = { do: 'end', state: 'completed', reason: 'Completed' };

/** True for a deployment that was ready in any attempt: its spec, which never changes, works. */
function isProven({ behaviour, readyAt }: Pick<Workload, 'behaviour' | 'readyAt'>): boolean {
  return behaviour === 'deployment' && readyAt !== null;
}

/** How its next attempt begins; nothing is saved before the first checkpoint. */
function thenText({ behaviour, savedSeconds }: Pick<Workload, 'behaviour' | 'savedSeconds'>): string {
  return behaviour === 'run' && savedSeconds > 0 ? 'It goes on from its last checkpoint' : 'It starts again';
}

/** Returns who else ended it, which is no failure; null if it ended on its own or we killed it. */
function endedByOthers(
  { outcome, killedFor }: Planned,
  observed: Extract<Observed, { state: 'absent' | 'ended' }>,
): string | null {
  if (outcome?.type === 'failed' || killedFor !== null || observed.state === 'absent') return null;
  return observed.by === 'itself' || observed.by === 'oom' ? null : ENDED_BY[observed.by];
}

/** Why it was killed, or null. */
function describeKill({ killedFor }: Pick<Workload, 'killedFor'>): string | null {
  return killedFor === null || killedFor === 'overdue' ? null : `${KILLED[killedFor]}.`;
}

function describeEnd(observed: Extract<Observed, { state: 'absent' | 'ended' }>): string {
  if (observed.state === 'absent' || observed.exitCode === null) return 'Its process is gone.';
  if (observed.by === 'oom') return 'It needed more memory than it was given.';
  if (observed.exitCode === 137) return 'It was killed, perhaps because it ran out of memory.';
  const lastLine = observed.lastLine ? `: ${observed.lastLine.replace(/\.$/, '')}` : '';
  return `It ended unexpectedly with status ${observed.exitCode}${lastLine}.`;
}
