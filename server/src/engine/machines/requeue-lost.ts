import type { Logger } from 'pino';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { lockWorkload } from '../lock-workload.ts';
import type { Workload } from '../model/workload.ts';
import type { WorkloadKinds } from '../model/workload-kind.ts';
import { listOfMachines, updateWorkload } from '../queries.ts';
import { planLost } from '../reconcile/plan.ts';
import { writeStep } from '../reconcile/write-step.ts';
import { findLostMachines } from './find-lost-machines.ts';

type Parts = {
  db: Database;
  kinds: WorkloadKinds;
  log: Logger;
  now: () => Date;
  /** The machine that runs the check. */
  machineId: string;
  /** A machine that was not seen for so long is lost. */
  lostAfterMs: number;
};

/**
 * Requeues the workloads of lost machines, except those that still report. From then on the token of the old attempt
 * is refused; a machine that comes back ends it (sweep-files.ts).
 */
export async function requeueLost(parts: Parts, gone: string[]): Promise<void> {
  for (const id of await listOfMachines(parts.db, gone)) {
    try {
      await inTransaction(parts.db, (tx) => takeBack(tx, parts, id));
    } catch (error) {
      // The others do not wait for it.
      parts.log.error({ err: error, workload_id: id }, 'a workload of a lost machine could not be requeued');
    }
  }
}

/**
 * Whether it works and has reported within that time: only the server of its machine is away. One that was asked to
 * stop is not given longer, as its server cannot end it. Pure.
 */
function isHeard(
  { outcome, lastReportAt, wanted, stopRequestedAt, drainSeconds }: Workload,
  { now, lostAfterMs }: Pick<Parts, 'now' | 'lostAfterMs'>,
): boolean {
  const msSince = (then: Date | null) => (then ? now().getTime() - then.getTime() : Number.POSITIVE_INFINITY);
  const endsInTime = wanted === 'running' || msSince(stopRequestedAt) < lostAfterMs + drainSeconds * 1000;
  return outcome === null && endsInTime && msSince(lastReportAt) < lostAfterMs;
}

async function takeBack(tx: Transaction, parts: Parts, id: string): Promise<void> {
  const { kinds, log, now } = parts;
  const workload = await lockWorkload(tx, id);
  // The machine may have come back, or another server was faster.
  const isGone = workload?.machineId && (await findLostMachines(tx, parts)).includes(workload.machineId);
  if (!workload || workload.endedAt || !isGone || isHeard(workload, parts)) return;
  log.warn({ workload_id: id, machine_id: workload.machineId }, 'a workload of a lost machine is requeued');
  const step = planLost(workload);
  const left = step
    ? (await writeStep({ kinds, now }, tx, workload, step, { lines: [], cursor: workload.outputCursor }))
        .workload
    : workload;
  if (left.endedAt) return;
  // Elsewhere it goes on from the checkpoint that has left the machine.
  const counted = left.checkpointSeconds;
  await updateWorkload(tx, id, {
    machineId: null,
    tokenSha256: null,
    ...(left.behaviour === 'run' && {
      activeSeconds: counted,
      savedSeconds: counted,
      lostMachineId: left.machineId,
      lostSeconds: left.savedSeconds,
    }),
  });
}
