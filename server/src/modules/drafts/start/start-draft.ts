import type { Draft, DraftSettings } from '@bakehouse/contract/drafts';
import { smallerAmount } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { holdForAnswers } from '../../batches/hold-for-answers.ts';
import type { ChatParts } from '../../chat/chat-parts.ts';
import { spendOnce } from '../../credits/spend-once.ts';
import { lockRestingDraft } from '../find-draft.ts';
import { noteStart, reopenChunks, replaceChunks, selectUnanswered } from '../queries.ts';
import { getDraft } from '../read-drafts.ts';
import { type Quoted, readQuote } from './quote-draft.ts';

type Input = { draftId: string; settings: DraftSettings | undefined };

/**
 * Has a model write the rows of a draft anew, or without settings go on with the chunks that have no answer. The most that it
 * can cost is held. Throws what `readQuote` throws, AppError 'conflict' where it runs already, 'insufficient_funds' and
 * 'budget_exceeded'.
 */
export async function startDraft(ctx: Context, chat: ChatParts, input: Input): Promise<Draft> {
  const { draftId: id } = input;
  await spendOnce(
    ctx,
    chat.usage,
    { operation: 'start-draft', input },
    () => readQuote(ctx, chat, input),
    (tx, quote) => begin(tx, ctx, id, quote),
  );
  return getDraft(ctx, id);
}

async function begin(
  tx: Transaction,
  ctx: Context,
  id: string,
  { settings, chunks, unanswered, highestMicro, prices }: Quoted,
): Promise<{ id: string }> {
  const row = await lockRestingDraft(tx, ctx, id);
  // While it was quoted it may have run.
  if (chunks === null && (await selectUnanswered(tx, id)).length !== unanswered.length)
    throw new AppError('conflict', { publicMessage: 'The draft has changed meanwhile. Start again.' });
  if (chunks) await replaceChunks(tx, id, chunks);
  else await reopenChunks(tx, id);
  // After the rows, since the hold locks the user's account.
  const held = await holdForAnswers(tx, ctx, {
    ...{ highestMicro, model: settings.model, name: `draft:${id}` },
    description: `Rows from documents by ${settings.model}`,
  });
  await noteStart(tx, id, {
    ...{ ...held, key_id: ctx.caller.key?.id ?? null, settings, prices, started_at: ctx.clock.now() },
    ...(chunks
      ? { charged_micro: 0n, chunks: chunks.length, chunks_done: 0, dropped: {} }
      : {
          charged_micro: row.charged_micro + smallerAmount(row.cost_micro, row.held_micro),
          chunks: row.chunks,
          chunks_done: row.chunks - unanswered.length,
          dropped: row.dropped,
        }),
  });
  await publishChange(tx, row.user_id, { topic: 'draft', id });
  return { id };
}
