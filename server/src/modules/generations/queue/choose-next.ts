import type { Provider } from '@bakehouse/contract/generators';
import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';

type Next = { places: Record<Provider, number>; now: Date };

/**
 * Chooses the generation to run next: one whose lease has expired (except those in `atWork`), else the first
 * in a queue that has a free place. Holds the queue's lock until the transaction ends; skips queues that
 * another transaction has locked.
 */
export async function chooseNext(
  tx: Transaction,
  { atWork, ...next }: Next & { atWork: readonly string[] },
): Promise<string | null> {
  const { rows: orphans } = await sql<{ id: string }>`
    select id from generations
    where ended_at is null and state in ('starting', 'running')
      and check_at <= ${next.now} and (locked_until is null or locked_until <= ${next.now})
      and id <> all (${atWork}::uuid[])
    order by id limit 1 for update skip locked`.execute(tx);
  if (orphans[0]) return orphans[0].id;
  for (const { queue, provider } of await listQueues(tx)) {
    const limit = next.places[provider];
    if ((await countRunning(tx, queue)) >= limit || !(await lockQueue(tx, queue))) continue;
    const first = await findFirst(tx, { queue, limit, now: next.now });
    if (first !== null) return first;
  }
  return null;
}

type Queue = { queue: string; provider: Provider };

/**
 * Returns the queues with waiting generations by a loose index scan: one index lookup per queue, however many
 * wait.
 */
async function listQueues(tx: Transaction): Promise<Queue[]> {
  const waiting = sql`select queue, provider from generations where state = 'queued' and ended_at is null`;
  const { rows } = await sql<Queue>`
    with recursive queues as (
      (${waiting} order by queue limit 1)
      union all
      select following.* from queues
      cross join lateral (${waiting} and queue > queues.queue order by queue limit 1) following
    ) select queue, provider from queues`.execute(tx);
  return rows;
}

async function countRunning(tx: Transaction, queue: string): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from generations
    where queue = ${queue} and state in ('starting', 'running') and ended_at is null`.execute(tx);
  return Number(rows[0]?.count);
}

/** Tries to lock the queue until the transaction ends. */
async function lockQueue(tx: Transaction, queue: string): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`turns of ${queue}`}, 0)) as locked`.execute(tx);
  return rows[0]?.locked === true;
}

/**
 * Returns the first in the order of `generation_queue`; only each user's first picture is a candidate. Reads
 * everything waiting in the queue: at most eight per user. The last place is reserved for a user without a
 * running generation, except in the queue of a deployment, which its owner does not share. Null if all places
 * are taken.
 */
async function findFirst(
  tx: Transaction,
  { queue, limit, now }: { queue: string; limit: number; now: Date },
): Promise<string | null> {
  const isShared = limit > 1 && !queue.startsWith('deployment:');
  const { rows } = await sql<{ id: string }>`
    with first as (
      select distinct on (user_id) user_id, id from generations
      where queue = ${queue} and state = 'queued' and ended_at is null and check_at <= ${now}
      order by user_id, id
    )
    select first.id from first
    cross join lateral (
      select count(*) from generations own
      where own.user_id = first.user_id and own.ended_at is null and own.queue = ${queue}
        and (own.state <> 'queued' or own.id < first.id)
    ) before
    left join generation_turns turns on turns.user_id = first.user_id and turns.queue = ${queue}
    where ${await countRunning(tx, queue)}::int < ${limit}::int - (${isShared} and before.count > 0)::int
    order by before.count, turns.served_at nulls first, first.id limit 1`.execute(tx);
  return rows[0]?.id ?? null;
}
