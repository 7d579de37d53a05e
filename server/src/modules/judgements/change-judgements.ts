import type { Judgement } from '@bakehouse/contract/judgements';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { chargeAnswers } from '../batches/hold-for-answers.ts';
import { findOwnRun } from '../training/runs/find-own-run.ts';
import { deleteJudgementsOf, lockJudgement, lockRunning, noteCancelled } from './queries.ts';
import { getOwnJudgement, noJudge } from './read-judgements.ts';

/** Lets a judgement end with the verdicts that it has. One that does not run stays as it is. Throws AppError 'not_found'. */
export async function cancelJudgement(ctx: Context, runId: string): Promise<Judgement> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    await findOwnRun(tx, { runId, userId });
    const row = await lockJudgement(tx, runId);
    if (!row) throw noJudge();
    if (row.ended_at || row.cancelled_at) return;
    await noteCancelled(tx, row.id, ctx.clock.now());
    await publishChange(tx, userId, { topic: 'run', id: runId });
  });
  return getOwnJudgement(ctx, runId);
}

/** Step: ends the judgements of a deleted user at what they have cost, and deletes all. */
export async function forgetJudgements(tx: Transaction, userId: string): Promise<void> {
  for (const judgement of await lockRunning(tx, userId)) await chargeAnswers(tx, judgement);
  await deleteJudgementsOf(tx, userId);
}
