import type { Provider } from '@bakehouse/contract/generators';
import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { claimRow, type Lease } from '../../../platform/leases/leased-table.ts';
import { announceGeneration } from '../announce-generation.ts';
import { endGeneration } from '../end-generation.ts';
import { deletePreview, type GenerationRow, recordTurn, updateGeneration } from '../queries.ts';
import { generationsTable } from '../run/generations-table.ts';
import { planLeased } from '../run/plan-generation.ts';
import { begun, progressColumns } from '../run/progress.ts';
import { cancelJob } from '../services/service-job.ts';

type Next = { places: Record<Provider, number>; now: Date };

/**
 * Chooses the generation to run next. Generations with an expired lease come first, except those in `atWork`;
 * otherwise takes the first generation of a queue with a free slot. Holds the queue's lock until the
 * transaction ends, and skips queues that another transaction has locked.
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
 * Returns the queues with waiting generations. A loose index scan needs one index lookup per queue, however
 * many generations wait.
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
 * Returns the first generation in the order of `generation_queue`; null if no slot is free. Only the first
 * picture of each user is a candidate. The query reads the whole queue, at most eight generations per user.
 * The last slot is reserved for users without a running generation, except in the queue of a deployment,
 * which only its owner uses.
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

/**
 * A leased generation to run, or a generation that was failed instead, e.g. because it waited for too long.
 */
type Turn = { lease: Lease<GenerationRow> } | { ended: GenerationRow };

/**
 * Leases the generation to run next, within `places` per queue of each provider. Skips generations that this
 * process is still running: their leases may have expired during a database outage. Null if none is ready.
 */
export async function leaseNext(
  services: Pick<Services, 'config' | 'db' | 'clock' | 'log'>,
  places: Record<Provider, number>,
  atWork: readonly string[] = [],
): Promise<Turn | null> {
  const { db, clock } = services;
  const turn = await inTransaction(db, async (tx): Promise<Turn | null> => {
    const now = clock.now();
    const id = await chooseNext(tx, { places, now, atWork });
    const lease = id === null ? null : await claimRow(tx, generationsTable, id, now);
    if (!lease) return null;
    const { row } = lease;
    const step = planLeased(row, now);
    if (step.do === 'fail') {
      await endGeneration(tx, row, { state: 'failed', reason: step.reason, chargedMicro: 0n, now });
      return { ended: row };
    }
    const startedAt = row.started_at ?? now;
    await updateGeneration(tx, row.id, { ...progressColumns(begun), started_at: startedAt });
    await deletePreview(tx, row.id);
    if (row.started_at === null) await recordTurn(tx, row, now);
    await announceGeneration(tx, row, { queueMoved: true });
    return { lease };
  });
  // Cancel a job that an earlier attempt started at a service.
  if (turn && 'ended' in turn) void cancelJob(services, turn.ended);
  return turn;
}
