import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getHeldOutAnswers as getHeldOutAnswersEndpoint } from '@bakehouse/contract/runs';
import type { HeldOutAnswers } from '@bakehouse/contract/runtime/report';
import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { findOwnRun } from '../runs/runs.ts';
import { deleteHeldOutAnswers, selectHeldOutAnswers } from './queries.ts';

/** Step: deletes the answers to held-out rows of the user's datasets. */
export async function deleteUserHeldOutAnswers(tx: Transaction, userId: string): Promise<void> {
  await deleteHeldOutAnswers(tx, userId);
}

/** Returns how the base and the tuned model answered the rows that a caller's run held out. */
export async function getHeldOutAnswers(
  ctx: Context,
  { params }: InputOf<typeof getHeldOutAnswersEndpoint>,
): Promise<ResponseOf<typeof getHeldOutAnswersEndpoint>> {
  const { run } = await findOwnRun(ctx.db, { runId: params.runId, userId: ctx.caller.userId });
  return { held_out_answers: (await selectHeldOutAnswers(ctx.db, [run.id])).get(run.id) ?? null };
}

/** Returns both models' answers to held-out rows, by run id. Runs without answers are missing. */
export async function listHeldOutAnswers(
  db: Database,
  runIds: string[],
): Promise<Map<string, HeldOutAnswers>> {
  return selectHeldOutAnswers(db, runIds);
}
