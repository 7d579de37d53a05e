import type { Provider } from '@bakehouse/contract/generators';
import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';

type Next = { places: Record<Provider, number>; now: Date };

/**
 * The one to run next: one that nobody looks after any more, which those `atWork` here are not, else the first in a queue
 * that has a free place. Whoever asks this chooses alone in that queue until the transaction ends; a queue in which another
 * chooses is left to them.
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

/** The queues in which somebody waits, each by a step in the index, however many wait there. */
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

/** Whether nobody else chooses in the queue: then nobody does until the transaction ends. */
async function lockQueue(tx: Transaction, queue: string): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`turns of ${queue}`}, 0)) as locked`.execute(tx);
  return rows[0]?.locked === true;
}

/**
 * Who is first in the order of `generation_queue`, where only the first picture of each user can be. To find those, each
 * claim reads whatever waits in the queue: eight of each user at most. The last place is for a user who has nothing in work, but where a deployment's owner has the queue to himself. Null where all places are
 * taken by now.
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
