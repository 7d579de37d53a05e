import { sql } from 'kysely';
import type { Database } from '../platform/db/database.ts';
import { inTransaction } from '../platform/db/in-transaction.ts';
import type { Driver } from './drivers/driver.ts';
import { listHolding, listWaiting, toSpec, updateWorkload, type WorkloadChanges } from './queries.ts';
import { assignSlots, type Decision, type Holding } from './queue.ts';
import type { Workload } from './workload.ts';
import { announce, type WorkloadKinds } from './workload-kind.ts';

/** One scheduler at a time, whichever process it lives in. */
const QUEUE_LOCK = 'bakehouse workload queue';

type Parts = { db: Database; driver: Driver; kinds: WorkloadKinds; now: Date };

/** Hands free slots to waiting workloads and tells the others why they wait. Returns how many were handed out. */
export async function schedule({ db, driver, kinds, now }: Parts): Promise<number> {
  const blockers = await findBlockers(db, driver);
  if (blockers.size === 0) return 0;
  const capacity = await driver.capacity();

  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${QUEUE_LOCK}, 0))`.execute(tx);
    const holding = (await listHolding(tx)).map((workload) => toHolding(workload, now));
    // Who has come since then has its turn in the next pass.
    const waiting = (await listWaiting(tx)).filter((workload) => blockers.has(workload.id));
    const able = waiting.filter((workload) => blockers.get(workload.id) === null);
    const decisions = new Map(
      assignSlots(able, holding, capacity, now).map((decision) => [decision.id, decision]),
    );
    let assigned = 0;
    for (const before of waiting) {
      const changes = toChanges(before, decisions.get(before.id), blockers.get(before.id) ?? '', now);
      if (changes === null) continue;
      if (changes.devices) assigned += 1;
      await announce(kinds, tx, await updateWorkload(tx, before.id, changes), before);
    }
    return assigned;
  });
}

/** What keeps each waiting workload from starting, apart from slots; null: nothing. */
async function findBlockers(db: Database, driver: Driver): Promise<Map<string, string | null>> {
  const waiting = await db
    .selectFrom('workloads')
    .select(['id', 'spec'])
    .where('ended_at', 'is', null)
    .where('state', '=', 'queued')
    .where('wanted', '=', 'running')
    .execute();
  return new Map(
    await Promise.all(waiting.map(async ({ id, spec }) => [id, await driver.blocker(toSpec(spec))] as const)),
  );
}

function toChanges(
  before: Workload,
  decision: Decision | undefined,
  blocker: string,
  now: Date,
): WorkloadChanges | null {
  if (decision?.assign) return { state: 'scheduling', reason: '', devices: decision.assign, checkAt: now };
  const reason = decision?.reason ?? blocker;
  return reason === '' || reason === before.reason ? null : { reason };
}

function toHolding(workload: Workload, now: Date): Holding {
  return { ...workload, devices: workload.devices ?? [], secondsLeft: secondsLeft(workload, now) };
}

function secondsLeft(workload: Workload, now: Date): number | null {
  if (workload.behaviour === 'deployment') return null;
  if (workload.remainingSeconds === null || workload.lastReportAt === null) return workload.expectedSeconds;
  return Math.max(0, workload.remainingSeconds - (now.getTime() - workload.lastReportAt.getTime()) / 1000);
}
