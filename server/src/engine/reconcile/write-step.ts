import type { Routing } from '../../platform/cluster-settings.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { isWithDriver, type Workload, type WorkloadState } from '../model/workload.ts';
import { announce, type WorkloadKinds } from '../model/workload-kind.ts';
import { insertLogLines, toLogLine, updateWorkload, type WorkloadChanges, wakeEngines } from '../queries.ts';
import { selectLogLines } from '../reports/attempt-log.ts';
import { createToken, hashToken } from '../reports/attempts.ts';
import type { Step } from './plan.ts';

export const CLOSING_LINES = 40;

type EndStep = Extract<Step, { do: 'end' }>;

/** New output of a workload, and the cursor to continue from. */
export type Output = { lines: string[]; cursor: string | null };

/** Writes a step and its log lines, and calls the workload's kind. A start gets a new token. */
export async function writeStep(
  { kinds, now, routing }: { kinds: WorkloadKinds; now: () => Date; routing: Routing | null },
  tx: Transaction,
  before: Workload,
  step: Step,
  output: Output,
): Promise<{ workload: Workload; token: string | null }> {
  const token = step.do === 'start' ? createToken() : null;
  // All replicas behind a router have the router's key, so that it can call each of them.
  const serverKey = routing?.routers.has(before.deploymentId ?? '') ? routing.key : createToken();
  const changes: WorkloadChanges = {
    ...changesOf(before, step, now()),
    ...(token && { tokenSha256: hashToken(token), serverKey }),
    ...(output.cursor !== before.outputCursor && { outputCursor: output.cursor }),
  };
  const hasChanged = Object.keys(changes).length > 0;
  const workload = hasChanged ? await updateWorkload(tx, before.id, changes) : before;
  const lines = await newLogLines(tx, before, step, output);
  await insertLogLines(
    tx,
    before.id,
    lines.map((line) => ({ at: now(), line })),
  );
  // If the step released a slot, wake the engines, which may assign it.
  if (before.devices !== null && workload.devices === null) await wakeEngines(tx);
  if (workload.state !== before.state || workload.reason !== before.reason) {
    await announce(kinds, tx, workload, before);
  }
  return { workload, token };
}

/** Returns the log lines of a step: new output, and why the attempt was killed or interrupted. */
async function newLogLines(
  tx: Transaction,
  before: Workload,
  step: Step,
  { lines }: Output,
): Promise<string[]> {
  const failed = step.do === 'end' && step.state === 'failed';
  // A process that does not exit immediately is killed repeatedly; log it once.
  const killed = step.do === 'kill' && step.cause !== before.killedFor;
  const reason = step.do === 'requeue' || killed || failed ? [step.reason] : [];
  if (before.behaviour === 'deployment') return [...lines, ...reason];
  if (!failed && !(step.do === 'requeue' && step.failed)) return reason;
  // Reports of a run are also printed, so skip lines that are already in the log.
  const known = new Set((await selectLogLines(tx, before.id, 5 * CLOSING_LINES)).map(({ line }) => line));
  return [...lines.filter((line) => !known.has(toLogLine(line))), ...reason];
}

function changesOf(before: Workload, step: Step, now: Date): WorkloadChanges {
  switch (step.do) {
    case 'nothing':
      return {};
    case 'start':
      return {
        attempt: before.attempt + 1,
        attemptStartedAt: now,
        startedAt: before.startedAt ?? now,
        outcome: null,
        interrupted: false,
        killedFor: null,
        baseUrl: null,
        address: null,
        serverUrl: null,
        phase: null,
        done: null,
        total: null,
        unit: null,
        remainingSeconds: null,
      };
    case 'wait':
      return { state: 'queued' satisfies WorkloadState, reason: step.reason };
    case 'adopt':
      return {
        state: 'starting' satisfies WorkloadState,
        reason: '',
        // An attempt in its driver's own queue begins its active time now, not when it was handed over.
        ...(isWithDriver(before) && { attemptStartedAt: now }),
      };
    case 'stop':
    case 'drain':
      return { state: 'stopping', reason: before.stopReason ?? '' };
    case 'kill':
      return { reason: step.reason, killedFor: step.cause };
    case 'degrade':
      return { state: 'degraded', reason: step.reason };
    case 'explain':
      return { reason: step.reason };
    case 'requeue':
      return {
        state: 'queued',
        reason: step.reason,
        devices: null,
        // Without a token, reports are rejected. The process may still run, for example on an unreachable
        // node.
        ...{ tokenSha256: null, attemptStartedAt: null },
        baseUrl: null,
        remainingSeconds: null,
        // An attempt that has not begun does not count as a restart.
        restarts: before.restarts + (before.state === 'scheduling' || before.state === 'queued' ? 0 : 1),
        failures: before.failures + (step.failed ? 1 : 0),
        notBefore: new Date(now.getTime() + step.delaySeconds * 1000),
        ...(before.behaviour === 'run' && secondsKept(before, step.workLost === true)),
      };
    case 'end':
      return {
        state: step.state,
        reason: step.reason,
        devices: null,
        baseUrl: null,
        remainingSeconds: null,
        endedAt: now,
        ...(endsUnsaved(before, step) && secondsKept(before, step.workLost === true)),
        // Users still see how long it worked. A resume starts from what remains.
        ...(step.state === 'failed' && step.workLost && { savedSeconds: before.checkpointSeconds }),
      };
  }
}

/**
 * True if the end of a run loses work: it was killed or crashed before it reported that its work was saved,
 * or its folder is gone.
 */
function endsUnsaved({ behaviour, outcome }: Workload, { state, workLost }: EndStep): boolean {
  return behaviour === 'run' && state === 'stopped' && (workLost === true || outcome?.type !== 'stopped');
}

/**
 * Counts only saved work, so that users do not pay for work that is lost. If the folder is gone too, a run
 * resumes from the checkpoint on the server.
 */
function secondsKept({ savedSeconds, checkpointSeconds }: Workload, workLost: boolean): WorkloadChanges {
  const seconds = workLost ? checkpointSeconds : savedSeconds;
  return { activeSeconds: seconds, savedSeconds: seconds };
}
