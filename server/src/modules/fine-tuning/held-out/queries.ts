import type { HeldOutAnswers } from '@bakehouse/contract/runtime/report';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';

/** Stores both models' answers to held-out rows; replaces earlier ones of the run. */
export async function upsertHeldOutAnswers(
  tx: Transaction,
  runId: string,
  answers: HeldOutAnswers,
): Promise<void> {
  await tx
    .insertInto('held_out_answers')
    .values({ run_id: runId, answers: toJson(answers) })
    .onConflict((conflict) => conflict.column('run_id').doUpdateSet({ answers: toJson(answers) }))
    .execute();
}

/** Returns both models' answers, by run; runs without answers are missing. */
export async function selectHeldOutAnswers(
  db: Database,
  runIds: string[],
): Promise<Map<string, HeldOutAnswers>> {
  const rows = await db
    .selectFrom('held_out_answers')
    .selectAll()
    .where('run_id', '=', sql<string>`any(${runIds}::uuid[])`)
    .execute();
  return new Map(rows.map(({ run_id, answers }) => [run_id, answers as unknown as HeldOutAnswers]));
}

export async function deleteHeldOutAnswers(tx: Transaction, userId: string): Promise<void> {
  await tx
    .deleteFrom('held_out_answers')
    .where('run_id', 'in', (runs) => runs.selectFrom('runs').select('id').where('user_id', '=', userId))
    .execute();
}
