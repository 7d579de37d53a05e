import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database, Transaction } from '../platform/db/database.ts';
import { inTransaction } from '../platform/db/in-transaction.ts';
import type { Driver } from './drivers/driver.ts';
import { findListening } from './heartbeat.ts';
import { type Observed, plan, planAfterFailure, type Step } from './plan.ts';
import {
  insertLogLines,
  leaseDueWorkload,
  lockLeasedWorkload,
  notifyReconcilers,
  readSpec,
  selectLogLines,
  toLogLine,
  updateWorkload,
  type WorkloadChanges,
} from './queries.ts';
import type { Workload, WorkloadState } from './workload.ts';
import { announce, type WorkloadKinds } from './workload-kind.ts';
import { createToken, hashToken } from './workload-token.ts';

/** Whoever has died with a lease in hand is replaced after this time. */
const LEASE_MS = 15_000;
const LOOK_AGAIN_MS = 3_000;
const CLOSING_LINES = 40;

export type Reconciler = {
  db: Database;
  driver: Driver;
  kinds: WorkloadKinds;
  log: Logger;
  now: () => Date;
  /** Where workloads reach the server. */
  serverUrl: () => string;
  /** Whether the machine is still ours; nothing is begun once it is not. */
  mayWork: () => boolean;
};

/**
 * Looks at the workload that has been due longest, and does the next step for it. False when none
 * is due.
 *
 * The row is leased under a token; the driver is asked outside of any transaction; what follows is
 * decided and written in a transaction that first makes sure of the lease. Killed between any two
 * of these, the lease runs out and whoever comes next sees the same row and the same machine. One
 * who comes back after its lease has run out finds another token, and writes nothing.
 */
export async function reconcileNext(parts: Reconciler): Promise<boolean> {
  const { db, driver, now } = parts;
  const lockToken = randomUUID();
  const leased = await leaseDueWorkload(db, {
    now: now(),
    lockToken,
    lockedUntil: new Date(now().getTime() + LEASE_MS),
    // Written here and not at the end, so that what wakes it meanwhile is not lost.
    checkAt: new Date(now().getTime() + LOOK_AGAIN_MS),
  });
  if (!leased) return false;
  const { id, attempt } = leased;
  const log = parts.log.child({ workload_id: id, attempt });
  const observed: Observed = attempt === 0 ? { state: 'absent' } : await driver.observe(id, attempt);
  const output = await readOutput(driver, leased, observed);

  const lease = { id, lockToken };
  const begun = await applyGuarded(parts, lease, async (tx, before) => {
    const step = plan(before, observed, now(), await findListening(tx));
    if (step.do !== 'nothing') log.info({ step, state: before.state, observed }, 'workload step');
    return { step, ...(await write(parts, tx, before, step, output)) };
  });
  // What was written and not done any more is found by whoever leases it next.
  if (!begun || !parts.mayWork()) return true;

  const { step, workload, token } = begun;
  if (step.do === 'stop') await driver.stop(id, attempt);
  if (step.do === 'kill') await driver.kill(id, attempt);
  if (step.do === 'start' && token) await start(parts, lease, workload, token, log);
  else if (keepsLease(step)) await releaseLease(parts, lease);
  return true;
}

type Output = { lines: string[]; offset: number };

/**
 * What a workload has printed and the log does not have yet. A run writes its log by reports, and
 * what it prints is only wanted when it has died.
 */
async function readOutput(driver: Driver, leased: Workload, observed: Observed): Promise<Output> {
  if (leased.behaviour === 'deployment') return driver.output(leased.id, leased.outputOffset);
  const lines = observed.state === 'ended' ? await driver.logs(leased.id, CLOSING_LINES) : [];
  return { lines, offset: leased.outputOffset };
}

type Lease = { id: string; lockToken: string };

/** Runs `work` on the row in a transaction, if the lease still holds; else answers null. */
async function applyGuarded<T>(
  { db }: Reconciler,
  { id, lockToken }: Lease,
  work: (tx: Transaction, workload: Workload) => Promise<T>,
): Promise<T | null> {
  return inTransaction(db, async (tx) => {
    const workload = await lockLeasedWorkload(tx, id, lockToken);
    return workload ? work(tx, workload) : null;
  });
}

/** Steps that are written before they are done on the machine; the lease ends after that. */
function keepsLease(step: Step): boolean {
  return step.do === 'start' || step.do === 'stop' || step.do === 'kill';
}

async function write(
  { kinds, now }: Reconciler,
  tx: Transaction,
  before: Workload,
  step: Step,
  output: Output,
): Promise<{ workload: Workload; token: string | null }> {
  const token = step.do === 'start' ? createToken() : null;
  const changes: WorkloadChanges = {
    ...(!keepsLease(step) && freeLease),
    ...changesOf(before, step, now()),
    ...(token && { tokenSha256: hashToken(token), serverKey: createToken() }),
    outputOffset: output.offset,
  };
  const workload = await updateWorkload(tx, before.id, changes);
  const lines = await newLogLines(tx, before, step, output);
  await insertLogLines(
    tx,
    before.id,
    lines.map((line) => ({ at: now(), line })),
  );
  // A slot may have become free.
  if (before.devices !== null && workload.devices === null) await notifyReconcilers(tx);
  if (workload.state !== before.state || workload.reason !== before.reason) {
    await announce(kinds, tx, workload, before);
  }
  return { workload, token };
}

/** What goes into the log with a step: output that is not there yet, and why it was interrupted. */
async function newLogLines(
  tx: Transaction,
  before: Workload,
  step: Step,
  { lines }: Output,
): Promise<string[]> {
  const failed = step.do === 'end' && step.state === 'failed';
  const reason = step.do === 'requeue' || failed ? [step.reason] : [];
  if (before.behaviour === 'deployment') return [...lines, ...reason];
  if (!failed && !(step.do === 'requeue' && step.failed)) return reason;
  // A run prints what it reports.
  const known = new Set((await selectLogLines(tx, before.id, 5 * CLOSING_LINES)).map(({ line }) => line));
  return [...lines.filter((line) => !known.has(toLogLine(line))), ...reason];
}

const freeLease = { lockToken: null, lockedUntil: null };

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
        baseUrl: null,
        phase: null,
        done: null,
        total: null,
        unit: null,
        remainingSeconds: null,
      };
    case 'adopt':
      return { state: 'starting' satisfies WorkloadState, reason: '' };
    case 'stop':
      return { state: 'stopping', reason: before.stopReason ?? '' };
    case 'kill':
      return { reason: step.reason };
    case 'degrade':
      return { state: 'degraded', reason: step.reason };
    case 'requeue':
      return {
        state: 'queued',
        reason: step.reason,
        devices: null,
        baseUrl: null,
        remainingSeconds: null,
        restarts: before.restarts + 1,
        failures: before.failures + (step.failed ? 1 : 0),
        notBefore: new Date(now.getTime() + step.delaySeconds * 1000),
        // Work that was lost is not counted.
        ...(before.behaviour === 'run' && { activeSeconds: before.savedSeconds }),
      };
    case 'end':
      return {
        state: step.state,
        reason: step.reason,
        devices: null,
        baseUrl: null,
        remainingSeconds: null,
        endedAt: now,
      };
  }
}

async function start(
  parts: Reconciler,
  lease: Lease,
  workload: Workload,
  token: string,
  log: Logger,
): Promise<void> {
  const failure = await parts.driver
    .start({
      workloadId: workload.id,
      attempt: workload.attempt,
      behaviour: workload.behaviour,
      spec: await readSpec(parts.db, workload.id),
      server: { base_url: parts.serverUrl(), token },
      serverKey: workload.serverKey ?? '',
      devices: workload.devices ?? [],
    })
    .then(
      () => null,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    );
  if (failure) log.error({ err: failure }, 'workload could not be started');
  await applyGuarded(parts, lease, async (tx, before) => {
    if (failure) {
      await write(
        parts,
        tx,
        before,
        planAfterFailure(before, `It could not be started: ${failure.message}.`),
        { lines: [], offset: before.outputOffset },
      );
      return;
    }
    // Its first report may have come before this.
    const state = before.state === 'scheduling' ? 'starting' : before.state;
    const after = await updateWorkload(tx, before.id, { ...freeLease, state });
    if (after.state !== before.state) await announce(parts.kinds, tx, after, before);
  });
}

async function releaseLease(parts: Reconciler, lease: Lease): Promise<void> {
  await applyGuarded(parts, lease, (tx) => updateWorkload(tx, lease.id, freeLease));
}
