import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import { type JudgementRow, toRow } from './judgements-table.ts';
import type { JudgeAnswer } from './score.ts';

type Db = Database | Transaction;

/** One of both orders of a pair. */
export type Order = { row_number: number; tuned_first: boolean };
export type AnswerRow = Order & JudgeAnswer;

/** Until the transaction ends nobody else begins or changes the judgement of the run. */
export async function lockJudgement(tx: Transaction, runId: string): Promise<JudgementRow | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`judgement of ${runId}`}, 0))`.execute(tx);
  const row = await tx
    .selectFrom('judgements')
    .selectAll()
    .where('run_id', '=', runId)
    .forUpdate()
    .executeTakeFirst();
  return row && toRow(row);
}

/** Those of these runs that have one. */
export async function selectJudgements(db: Db, runIds: string[]): Promise<JudgementRow[]> {
  const rows = await db
    .selectFrom('judgements')
    .selectAll()
    .where('run_id', '=', sql<string>`any(${runIds}::uuid[])`)
    .execute();
  return rows.map(toRow);
}

/** What is asked in a judgement, and what the judge has answered, in the order of the rows. */
export async function selectAnswers(db: Db, id: string): Promise<AnswerRow[]> {
  const rows = await db
    .selectFrom('judge_answers')
    .select(['row_number', 'tuned_first', 'text', 'verdict', 'error'])
    .where('judgement_id', '=', id)
    .orderBy('row_number')
    .orderBy('tuned_first')
    .execute();
  return rows as AnswerRow[];
}

type Start = Pick<JudgementRow, 'prices' | 'hold_id' | 'held_micro' | 'started_at' | 'expires_at'>;

/** Puts a judgement in the place of the one that the run has. Without anything to ask it has ended. */
export async function replaceJudgement(
  tx: Transaction,
  {
    prices,
    orders,
    ...start
  }: Start & Pick<JudgementRow, 'id' | 'run_id' | 'user_id' | 'model' | 'prompt'> & { orders: Order[] },
): Promise<void> {
  const end = orders.length === 0 && { ended_at: start.started_at, outcome: 'completed' };
  await tx.deleteFrom('judgements').where('run_id', '=', start.run_id).execute();
  await tx
    .insertInto('judgements')
    .values({ ...start, prices: toJson(prices), check_at: start.started_at, ...end })
    .execute();
  if (orders.length === 0) return;
  await tx
    .insertInto('judge_answers')
    .values(orders.map((order) => ({ judgement_id: start.id, ...order })))
    .execute();
}

/** Lets a judgement that has ended go on with what has no answer. */
export async function goOn(
  tx: Transaction,
  id: string,
  { prices, ...start }: Start & Pick<JudgementRow, 'charged_micro'>,
): Promise<void> {
  await tx
    .updateTable('judgements')
    .set({
      ...{ ...start, prices: toJson(prices), cost_micro: 0n, error: null, check_at: start.started_at },
      ...{ cancelled_at: null, ended_at: null, outcome: null },
    })
    .where('id', '=', id)
    .execute();
  await tx.updateTable('judge_answers').set({ error: null }).where('judgement_id', '=', id).execute();
}

/** Notes that a judgement shall end, and that it is looked at soon. */
export async function noteCancelled(tx: Transaction, id: string, now: Date): Promise<void> {
  await tx.updateTable('judgements').set({ cancelled_at: now, check_at: now }).where('id', '=', id).execute();
}

/** What the judge was not asked yet. */
export async function selectOpen(db: Db, id: string, limit: number): Promise<Order[]> {
  return db
    .selectFrom('judge_answers')
    .select(['row_number', 'tuned_first'])
    .where('judgement_id', '=', id)
    .where('text', 'is', null)
    .where('error', 'is', null)
    .orderBy('row_number')
    .orderBy('tuned_first')
    .limit(limit)
    .execute();
}

export type Kept = AnswerRow & { costMicro: bigint };

/** Keeps answers of the judge, with what they cost. */
export async function keepAnswers(
  tx: Transaction,
  { id, cost_micro: cost, error: before }: JudgementRow,
  answers: readonly Kept[],
): Promise<void> {
  for (const { row_number, tuned_first, text, verdict, error } of answers) {
    await tx
      .updateTable('judge_answers')
      .set({ text, verdict, error })
      .where('judgement_id', '=', id)
      .where('row_number', '=', row_number)
      .where('tuned_first', '=', tuned_first)
      .execute();
  }
  await tx
    .updateTable('judgements')
    .set({
      cost_micro: answers.reduce((sum, { costMicro }) => sum + costMicro, cost),
      error: answers.findLast(({ error }) => error !== null)?.error ?? before,
    })
    .where('id', '=', id)
    .execute();
}

/** It has ended, and its lease with it: it may go on at once. */
export async function noteEnd(
  tx: Transaction,
  id: string,
  end: Pick<JudgementRow, 'outcome' | 'error' | 'ended_at'>,
): Promise<void> {
  await tx
    .updateTable('judgements')
    .set({ ...end, lock_token: null, locked_until: null })
    .where('id', '=', id)
    .execute();
}

/** The judgements of a user that run, locked until the transaction ends. */
export async function lockRunning(tx: Transaction, userId: string): Promise<JudgementRow[]> {
  const rows = await tx
    .selectFrom('judgements')
    .selectAll()
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.map(toRow);
}

export async function deleteJudgementsOf(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('judgements').where('user_id', '=', userId).execute();
}
