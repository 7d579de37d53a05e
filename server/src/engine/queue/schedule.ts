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
import { offering, toHolding } from './queue-rows.ts';

/** Only one process schedules at a time. */
const QUEUE_LOCK = 'bakehouse workload queue';

/** Estimates are in minutes: without other changes the line is computed again this often. */
const LOOK_AGAIN_MS = 10_000;

type Parts = { db: Database; machineId: string; kinds: WorkloadKinds };

/**
 * Hands free slots of this machine to waiting workloads, and tells all others why they wait: at the first call, and
 * then where something has changed since the last one. Returns how many were handed out.
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

/** Who looks after the cluster does so by the same line and the same offers, and comes to the same decisions. */
async function schedule({ db, machineId, kinds }: Parts, now: Date): Promise<number> {
  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${QUEUE_LOCK}, 0))`.execute(tx);
    const holding = (await listHolding(tx)).map((workload) => toHolding(workload, now));
    const waiting = await listWaiting(tx);
    const decisions = assignSlots(waiting, holding, offering(await listMachines(tx)), now);
    const own = decisions.filter(({ assign }) => assign === null || assign.machineId === machineId);
    return apply(tx, kinds, waiting, own, now);
  });
}

/** Writes what has changed, all reasons at once: in a long line every step forward changes most of them. */
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

/** Its files are not there: a run goes on from what it has uploaded, and counts no more. */
function withoutFiles({ behaviour, checkpointSeconds }: Workload): WorkloadChanges {
  const counted = { activeSeconds: checkpointSeconds, savedSeconds: checkpointSeconds };
  // What it has printed lies with them.
  return { outputCursor: null, ...(behaviour === 'run' && counted) };
}
