import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getHeldOutAnswers as endpoint } from '@bakehouse/contract/runs';
import type { Context } from '../../../platform/context.ts';
import { findOwnRun } from '../runs/find-own-run.ts';
import { selectHeldOutAnswers } from './queries.ts';

/** Returns the base's and the tuned model's answers to rows that a run of the caller held out. */
export async function getHeldOutAnswers(
  ctx: Context,
  { params }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { run } = await findOwnRun(ctx.db, { runId: params.runId, userId: ctx.caller.userId });
  return { held_out_answers: (await selectHeldOutAnswers(ctx.db, [run.id])).get(run.id) ?? null };
}
