import type { HeldOutAnswers } from '@bakehouse/contract/runtime/report';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';

/** Keeps what both models said to held-out rows; a run that says it again replaces it. */
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

/** What both models said, by run; runs of which nobody asked them are missing. */
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
