import type { Draft, DraftSettings } from '@bakehouse/contract/drafts';
import { smallerAmount } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { holdForAnswers } from '../../batches/hold-for-answers.ts';
import type { ChatParts } from '../../chat/chat-parts.ts';
import { spendOnce } from '../../credits/spend-once.ts';
import { getDraft, lockRestingDraft } from '../drafts.ts';
import { recordDraftStart, reopenChunks, replaceChunks, selectUnanswered } from '../queries.ts';
import { type Quoted, readQuote } from './quote-draft.ts';

type Input = { draftId: string; settings: DraftSettings | undefined };

/**
 * Starts writing a draft's rows from scratch, or without settings resumes its unanswered chunks. Holds the
 * maximum price. Throws the errors of `readQuote`, AppError 'conflict' if it is already running,
 * 'insufficient_funds' and 'budget_exceeded'.
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
  // It may have run since the quote.
  if (chunks === null && (await selectUnanswered(tx, id)).length !== unanswered.length)
    throw new AppError('conflict', { publicMessage: 'The draft has changed meanwhile. Start again.' });
  if (chunks) await replaceChunks(tx, id, chunks);
  else await reopenChunks(tx, id);
  // After the rows: the hold locks the user's account.
  const held = await holdForAnswers(tx, ctx, {
    ...{ highestMicro, model: settings.model, name: `draft:${id}` },
    description: `Rows from documents by ${settings.model}`,
  });
  await recordDraftStart(tx, id, {
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
