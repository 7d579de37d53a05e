import type { Draft, DraftSettings } from '@bakehouse/contract/drafts';
import { smallerAmount } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { type Transaction, toJson } from '../../../platform/db/database.ts';
import { conflict } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { startAnswers } from '../../batches/bulk-answers.ts';
import { spendOnce } from '../../billing/spend-once.ts';
import type { ChatParts } from '../../chat/chat-parts.ts';
import { getDraft, lockIdleDraft } from '../drafts.ts';
import { reopenChunks, replaceChunks, selectUnanswered } from '../queries.ts';
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
  const row = await lockIdleDraft(tx, ctx, id);
  // Another run may have answered chunks since the quote.
  if (chunks === null && (await selectUnanswered(tx, id)).length !== unanswered.length)
    throw conflict('The draft has changed. Start again.');
  if (chunks) await replaceChunks(tx, id, chunks);
  else await reopenChunks(tx, id);
  await startAnswers(tx, ctx, row, {
    ...{
      highestMicro,
      prices,
      model: settings.model,
      description: `Rows from documents by ${settings.model}`,
    },
    settings: toJson(settings),
    ...(chunks
      ? { charged_micro: 0n, total: chunks.length, completed: 0, dropped: '{}' }
      : {
          charged_micro: row.charged_micro + smallerAmount(row.cost_micro, row.held_micro),
          completed: row.total - unanswered.length,
        }),
  });
  await publishChange(tx, row.user_id, { topic: 'draft', id });
  return { id };
}
