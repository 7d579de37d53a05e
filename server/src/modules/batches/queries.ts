import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import type { JsonLine } from '../datasets/openai-files/json-lines.ts';
import { type BatchRow, toRow } from './batches-table.ts';

type Db = Database | Transaction;

export type BatchRequest = { number: number; customId: string; body: Record<string, unknown> };

/** The result of a request, as its line in the output or error file. */
export type BatchAnswer = { number: number; answer: object; isError: boolean; costMicro: bigint };

type NewBatch = Pick<
  BatchRow,
  | 'id'
  | 'user_id'
  | 'key_id'
  | 'endpoint'
  | 'model'
  | 'input_asset_id'
  | 'metadata'
  | 'prices'
  | 'held_micro'
  | 'total'
  | 'created_at'
  | 'expires_at'
>;

/** Maximum size of one statement, to limit the lines in memory. */
const AT_ONCE = { lines: 500, characters: 4_000_000 };

/** Inserts a batch without its lines and its hold. */
export async function insertBatch(tx: Transaction, batch: NewBatch): Promise<void> {
  await tx
    .insertInto('batches')
    .values({
      ...batch,
      metadata: batch.metadata && toJson(batch.metadata),
      prices: toJson(batch.prices),
      check_at: batch.created_at,
    })
    .execute();
}

/** Inserts the requests of a batch, which are already validated. */
export async function insertLines(
  tx: Transaction,
  id: string,
  lines: AsyncIterable<JsonLine>,
): Promise<void> {
  let some: { number: number; customId: string; body: string }[] = [];
  let characters = 0;
  const write = async () => {
    await sql`
      insert into batch_lines (batch_id, number, custom_id, body)
      select ${id}, number, custom_id, body::jsonb from unnest(
        ${some.map(({ number }) => number)}::int[],
        ${some.map(({ customId }) => customId)}::text[],
        ${some.map(({ body }) => body)}::text[]
      ) as line (number, custom_id, body)`.execute(tx);
    some = [];
    characters = 0;
  };
  for await (const { number, value } of lines) {
    const body = JSON.stringify(value.body);
    some.push({ number, customId: String(value.custom_id), body });
    characters += body.length;
    if (some.length === AT_ONCE.lines || characters >= AT_ONCE.characters) await write();
  }
  await write();
}

export async function noteHold(tx: Transaction, id: string, holdId: string): Promise<void> {
  await tx.updateTable('batches').set({ hold_id: holdId }).where('id', '=', id).execute();
}

/** Returns a user's batch, optionally locked until the transaction ends. */
export async function findBatch(
  db: Db,
  { userId, id, lock = false }: { userId: string; id: string; lock?: boolean },
): Promise<BatchRow | undefined> {
  const row = await db
    .selectFrom('batches')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .$if(lock, (query) => query.forUpdate())
    .executeTakeFirst();
  return row && toRow(row);
}

/** Returns a user's batches, newest first, after the batch `after`. */
export async function selectBatches(
  db: Db,
  { userId, after = null, limit }: { userId: string; after?: string | null; limit: number },
): Promise<BatchRow[]> {
  const rows = await db
    .selectFrom('batches')
    .selectAll()
    .where('user_id', '=', userId)
    .$if(after !== null, (query) =>
      query.where(
        sql<boolean>`(created_at, id) < (select created_at, id from batches where id = ${after} and user_id = ${userId})`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toRow);
}

/** Prevents the user from starting another batch until the transaction ends. */
export async function lockBatchesOf(tx: Transaction, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`batches of ${userId}`}, 0))`.execute(tx);
}

/** Returns the number of a user's running batches. */
export async function countOpen(db: Db, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('batches')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Marks the batch as cancelled and schedules its next turn. */
export async function noteCancelled(tx: Transaction, id: string, now: Date): Promise<void> {
  await tx.updateTable('batches').set({ cancelled_at: now, check_at: now }).where('id', '=', id).execute();
}

export async function setBatchStarted(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('batches')
    .set({ begun_at: now })
    .where('id', '=', id)
    .where('begun_at', 'is', null)
    .execute();
}

/** Returns the first unanswered requests. */
export async function selectOpenRequests(db: Db, id: string, limit: number): Promise<BatchRequest[]> {
  const rows = await db
    .selectFrom('batch_lines')
    .select(['number', 'custom_id as customId', 'body'])
    .where('batch_id', '=', id)
    .where('answer', 'is', null)
    .orderBy('number')
    .limit(limit)
    .execute();
  return rows as BatchRequest[];
}

/** Stores answers with their costs, at most one per request. */
export async function saveAnswers(tx: Transaction, id: string, answers: BatchAnswer[]): Promise<void> {
  for (const { number, answer, isError, costMicro } of answers) {
    const { numUpdatedRows } = await tx
      .updateTable('batch_lines')
      .set({ answer: toJson(answer), is_error: isError })
      .where('batch_id', '=', id)
      .where('number', '=', number)
      .where('answer', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) continue;
    const counted = isError ? ('failed' as const) : ('completed' as const);
    await tx
      .updateTable('batches')
      .set((row) => ({
        [counted]: row(counted, '+', 1),
        cost_micro: row('cost_micro', '+', costMicro),
      }))
      .where('id', '=', id)
      .execute();
  }
}

/** Returns the answers or errors of a batch, page by page. */
export async function selectAnswers(
  db: Db,
  { id, isError, after, limit }: { id: string; isError: boolean; after: number; limit: number },
): Promise<{ number: number; answer: object }[]> {
  const rows = await db
    .selectFrom('batch_lines')
    .select(['number', 'answer'])
    .where('batch_id', '=', id)
    .where('is_error', '=', isError)
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute();
  return rows as { number: number; answer: object }[];
}

type End = Pick<BatchRow, 'outcome' | 'output_asset_id' | 'error_asset_id' | 'ended_at'>;

/** Ends a batch and deletes its lines, whose answers are in its files. */
export async function noteEnd(tx: Transaction, id: string, end: End): Promise<void> {
  await tx.updateTable('batches').set(end).where('id', '=', id).execute();
  await tx.deleteFrom('batch_lines').where('batch_id', '=', id).execute();
}

export async function deleteBatchesOf(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('batches').where('user_id', '=', userId).execute();
}

/** Locks a user's running batches until the transaction ends and returns them. */
export async function lockOpenBatches(tx: Transaction, userId: string): Promise<BatchRow[]> {
  const rows = await tx
    .selectFrom('batches')
    .selectAll()
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.map(toRow);
}
