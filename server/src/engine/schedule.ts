import { sql } from 'kysely';
import type { Database, Transaction } from '../platform/db/database.ts';
import { inTransaction } from '../platform/db/in-transaction.ts';
import type { Driver } from './drivers/driver.ts';
import { updateWorkload } from './queries.ts';
import { assignSlots, type Decision, type Holding } from './queue.ts';
import {
  listHolding,
  listWaiting,
  lockWaiting,
  updateReasons,
  type WaitingWorkload,
} from './queue-queries.ts';
import type { Workload } from './workload.ts';
import { announce, announceReasons, type WorkloadKinds } from './workload-kind.ts';

/** One scheduler at a time, whichever process it lives in. */
const QUEUE_LOCK = 'bakehouse workload queue';

type Parts = { db: Database; driver: Driver; kinds: WorkloadKinds; now: Date };

/** Hands free slots to waiting workloads and tells the others why they wait. Returns how many were handed out. */
export async function schedule({ db, driver, kinds, now }: Parts): Promise<number> {
  const present = await listWaiting(db);
  if (present.length === 0) return 0;
  const blockers = await findBlockers(present, driver);
  const capacity = await driver.capacity();

  return inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${QUEUE_LOCK}, 0))`.execute(tx);
    const holding = (await listHolding(tx)).map((workload) => toHolding(workload, now));
    // Who has come since then has its turn in the next pass.
    const waiting = (await listWaiting(tx)).filter(({ id }) => blockers.has(id));
    const able = waiting.filter(({ id }) => blockers.get(id) === null);
    const decisions = new Map(
      assignSlots(able, holding, capacity, now).map((decision) => [decision.id, decision]),
    );
    return apply(tx, kinds, waiting, (id) => decide(decisions.get(id), blockers.get(id) ?? ''), now);
  });
}

/** What keeps each waiting workload from starting, apart from slots; null: nothing. Asked once for each kind of spec. */
async function findBlockers(waiting: WaitingWorkload[], driver: Driver): Promise<Map<string, string | null>> {
  const asked = new Map<string, Promise<string | null>>();
  const ask = ({ spec }: WaitingWorkload) => {
    const name = `${spec.kind} ${spec.engine}`;
    const answer = asked.get(name) ?? driver.blocker(spec);
    asked.set(name, answer);
    return answer;
  };
  return new Map(await Promise.all(waiting.map(async (one) => [one.id, await ask(one)] as const)));
}

/** The slots that one gets, or why it goes on waiting. */
type Verdict = { assign: number[] } | { reason: string };

function decide(decision: Decision | undefined, blocker: string): Verdict {
  if (decision?.assign) return { assign: decision.assign };
  return { reason: decision?.reason ?? blocker };
}

/** Writes what has changed, all reasons at once: in a long line every step forward changes most of them. */
async function apply(
  tx: Transaction,
  kinds: WorkloadKinds,
  waiting: WaitingWorkload[],
  verdictOf: (id: string) => Verdict,
  now: Date,
): Promise<number> {
  const verdicts = new Map(
    waiting
      .map((one) => [one, verdictOf(one.id)] as const)
      .filter(([one, verdict]) => 'assign' in verdict || !['', one.reason].includes(verdict.reason))
      .map(([one, verdict]) => [one.id, verdict]),
  );
  const reasons = new Map<string, string>();
  const told: Workload[] = [];
  let assigned = 0;
  for (const before of await lockWaiting(tx, [...verdicts.keys()])) {
    const verdict = verdicts.get(before.id);
    if (!verdict) continue;
    if ('assign' in verdict) {
      const changes = { state: 'scheduling', reason: '', devices: verdict.assign, checkAt: now } as const;
      await announce(kinds, tx, await updateWorkload(tx, before.id, changes), before);
      assigned += 1;
    } else {
      reasons.set(before.id, verdict.reason);
      told.push(before);
    }
  }
  if (reasons.size > 0) await updateReasons(tx, reasons);
  await announceReasons(
    kinds,
    tx,
    told.map((before) => ({ before, workload: { ...before, reason: reasons.get(before.id) ?? '' } })),
  );
  return assigned;
}

function toHolding(workload: Workload, now: Date): Holding {
  return { ...workload, devices: workload.devices ?? [], secondsLeft: secondsLeft(workload, now) };
}

function secondsLeft(workload: Workload, now: Date): number | null {
  if (workload.behaviour === 'deployment') return null;
  if (workload.remainingSeconds === null || workload.lastReportAt === null) return workload.expectedSeconds;
  return Math.max(0, workload.remainingSeconds - (now.getTime() - workload.lastReportAt.getTime()) / 1000);
}
