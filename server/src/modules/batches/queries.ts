import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import type { JsonLine } from '../datasets/openai-files/json-lines.ts';
import type { Progress } from './bulk-answers.ts';

type Db = Database | Transaction;

export type BatchRequest = { number: number; customId: string; body: Record<string, unknown> };

/** The result of a request, in the format of a line of the output or error file. */
export type BatchAnswer = { number: number; answer: object; isError: boolean; costMicro: bigint };

/** Maximum size of one insert statement, which limits how many lines are in memory. */
const AT_ONCE = { lines: 500, characters: 4_000_000 };

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

export async function setBatchStarted(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('bulk_answers')
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

/** Stores answers, at most one per request. Returns the stored ones with their cost. */
export async function saveAnswers(tx: Transaction, id: string, answers: BatchAnswer[]): Promise<Progress> {
  const progress = { completed: 0, failed: 0, costMicro: 0n };
  for (const { number, answer, isError, costMicro } of answers) {
    const { numUpdatedRows } = await tx
      .updateTable('batch_lines')
      .set({ answer: toJson(answer), is_error: isError })
      .where('batch_id', '=', id)
      .where('number', '=', number)
      .where('answer', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) continue;
    progress[isError ? 'failed' : 'completed'] += 1;
    progress.costMicro += costMicro;
  }
  return progress;
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

/** Deletes the requests of a batch that ended: its files have their answers. */
export async function deleteLines(tx: Transaction, id: string): Promise<void> {
  await tx.deleteFrom('batch_lines').where('batch_id', '=', id).execute();
}
