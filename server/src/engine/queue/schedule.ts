import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { listMachines } from '../machines/queries.ts';
import type { Workload } from '../model/workload.ts';
import { announce, announceReasons, type WorkloadKinds } from '../model/workload-kind.ts';
import { updateWorkload, type WorkloadChanges } from '../queries.ts';
import { assignSlots, type Decision } from './queue.ts';
import {
  listHolding,
  listWaiting,
  lockWaiting,
  readFingerprint,
  updateReasons,
  type WaitingWorkload,
} from './queue-queries.ts';
import { toHolding, toOfferingMachines } from './queue-rows.ts';

/** Only one process schedules at a time. */
const QUEUE_LOCK = 'bakehouse workload queue';

/** The queue is recomputed this often even without changes, because time changes the estimates. */
const LOOK_AGAIN_MS = 10_000;

type Parts = { db: Database; machineId: string; kinds: WorkloadKinds };

/**
 * Returns a function that assigns free slots of this machine to waiting workloads, and updates the reasons of
 * the others. It does nothing if the queue has not changed since its last call. It returns the number of
 * workloads that got slots.
 */
export function createScheduler(parts: Parts): (now: Date) => Promise<number> {
  let seen: { fingerprint: string; at: number } | null = null;
  return async (now) => {
    const { waiting, fingerprint } = await readFingerprint(parts.db, now);
    if (waiting === 0) return 0;
    if (seen?.fingerprint === fingerprint && now.getTime() - seen.at < LOOK_AGAIN_MS) return 0;
    const assigned = await schedule(parts, now);
    seen = { fingerprint, at: now.getTime() };
    return assigned;
  };
}

/** Applies only the decisions for this machine. The cluster's engine reaches the same decisions. */
async function schedule({ db, machineId, kinds }: Parts, now: Date): Promise<number> {
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${QUEUE_LOCK}, 0))`.execute(tx);
    const holding = (await listHolding(tx)).map((workload) => toHolding(workload, now));
    const waiting = await listWaiting(tx);
    const decisions = assignSlots(waiting, holding, toOfferingMachines(await listMachines(tx)), now);
    const own = decisions.filter(({ assign }) => assign === null || assign.machineId === machineId);
    return apply(tx, kinds, waiting, own, now);
  });
}

/** Writes the changes, with all reasons in one statement: in a long queue each step changes most of them. */
async function apply(
  tx: Transaction,
  kinds: WorkloadKinds,
  waiting: WaitingWorkload[],
  decisions: Decision[],
  now: Date,
): Promise<number> {
  const reasonBefore = new Map(waiting.map(({ id, reason }) => [id, reason]));
  const changes = new Map(
    decisions
      .filter((one) => one.assign || (one.reason !== null && one.reason !== reasonBefore.get(one.id)))
      .map((one) => [one.id, one]),
  );
  const reasons = new Map<string, string>();
  const explained: Workload[] = [];
  let assigned = 0;
  for (const before of await lockWaiting(tx, [...changes.keys()])) {
    const decision = changes.get(before.id);
    if (decision?.assign) {
      const { machineId, devices } = decision.assign;
      const written = {
        ...({ state: 'scheduling', reason: '', machineId, devices, checkAt: now } as const),
        ...(before.machineId !== machineId && withoutFiles(before)),
      };
      await announce(kinds, tx, await updateWorkload(tx, before.id, written), before);
      assigned += 1;
    } else if (decision && decision.reason !== null) {
      reasons.set(before.id, decision.reason);
      explained.push(before);
    }
  }
  if (reasons.size > 0) await updateReasons(tx, reasons);
  await announceReasons(
    kinds,
    tx,
    explained.map((before) => ({ before, workload: { ...before, reason: reasons.get(before.id) ?? '' } })),
  );
  return assigned;
}

/**
 * Changes for a run that moves to another machine without its files: it resumes from its upload, so only that
 * work counts.
 */
function withoutFiles({ behaviour, checkpointSeconds }: Workload): WorkloadChanges {
  const counted = { activeSeconds: checkpointSeconds, savedSeconds: checkpointSeconds };
  // The cursor refers to output that is stored with the files.
  return { outputCursor: null, ...(behaviour === 'run' && counted) };
}
