import { randomUUID } from 'node:crypto';
import type { Judgement } from '@bakehouse/contract/judgements';
import { smallerAmount } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { holdForAnswers } from '../batches/hold-for-answers.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { spendOnce } from '../credits/spend-once.ts';
import { goOn, lockJudgement, replaceJudgement, selectAnswers } from './queries.ts';
import { readQuote, type Wanted } from './quote-judgement.ts';
import { getOwnJudgement } from './read-judgements.ts';

type Quote = Awaited<ReturnType<typeof readQuote>>;

/**
 * Has a model judge the answers of a run's two models, or without settings go on with what has no answer. The most that it can
 * cost is held. Throws what `readQuote` throws, AppError 'conflict' where it runs already, 'insufficient_funds' and
 * 'budget_exceeded'.
 */
export async function startJudgement(ctx: Context, chat: ChatParts, input: Wanted): Promise<Judgement> {
  await spendOnce(
    ctx,
    chat.usage,
    { operation: 'start-judgement', input },
    () => readQuote(ctx, chat, input),
    (tx, quote) => begin(tx, ctx, input, quote),
  );
  return getOwnJudgement(ctx, input.runId);
}

async function begin(
  tx: Transaction,
  ctx: Context,
  { runId, settings: wanted }: Wanted,
  { id: quotedId, settings, orders, highestMicro, prices }: Quote,
): Promise<{ id: string }> {
  const before = await lockJudgement(tx, runId);
  if (before && !before.ended_at)
    throw new AppError('conflict', {
      publicMessage: 'The judge is being asked. Wait until it has ended, or cancel it first.',
    });
  const { userId } = ctx.caller;
  const { model } = settings;
  const now = ctx.clock.now();
  const held =
    orders.length === 0
      ? { hold_id: null, held_micro: 0n, expires_at: now }
      : await holdForAnswers(tx, ctx, {
          ...{ highestMicro, model, name: `judgement:${runId}` },
          description: `Answers of a fine-tune judged by ${model}`,
        });
  const start = { prices, started_at: now, ...held };
  await publishChange(tx, userId, { topic: 'run', id: runId });
  if (wanted) {
    const id = randomUUID();
    await replaceJudgement(tx, { id, run_id: runId, user_id: userId, ...settings, ...start, orders });
    return { id };
  }
  // While it was quoted it may have run, or another may have taken its place.
  const rest = before && (await selectAnswers(tx, before.id)).filter(({ text }) => text === null);
  if (!before || before.id !== quotedId || rest?.length !== orders.length)
    throw new AppError('conflict', { publicMessage: 'The judgement has changed meanwhile. Start again.' });
  const { id, charged_micro: charged, cost_micro: cost, held_micro: heldBefore } = before;
  await goOn(tx, id, { ...start, charged_micro: charged + smallerAmount(cost, heldBefore) });
  return { id };
}
