import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { quoteJudgement as endpoint, JudgeSettings } from '@bakehouse/contract/judgements';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { AppError, refused } from '../../platform/errors.ts';
import { quoteChats } from '../batches/quote-chats.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { askJudge, type Pair } from './ask-judge.ts';
import { type Order, selectAnswers, selectJudgements } from './queries.ts';
import { findPairs } from './read-judgements.ts';
import { isSame } from './score.ts';

export type Wanted = { runId: string; settings: JudgeSettings | undefined };
type Quoted = {
  /** Of the judgement that goes on; null: a new one. */
  id: string | null;
  settings: JudgeSettings;
  orders: Order[];
  highestMicro: bigint;
  prices: Record<string, string>;
};

/**
 * What a judge is asked about a run of the caller, and what that costs at most, at the prices of batches: anew, or without
 * settings what has no answer. Throws what `findPairs` throws, AppError 'model_not_found', 'conflict' where nothing is left to go
 * on with, and 'invalid_request' where a pair is more than the model can take.
 */
export async function readQuote(
  ctx: Context,
  chat: ChatParts,
  { runId, settings: wanted }: Wanted,
): Promise<Quoted> {
  const pairs = await findPairs(ctx, runId);
  const { id, settings, orders } = wanted
    ? { id: null, settings: wanted, orders: ordersOf(pairs) }
    : await readRest(ctx, runId);
  const quoted = await quoteChats(ctx, chat, {
    model: settings.model,
    bodies: orders.flatMap(({ row_number: number, tuned_first: tunedFirst }) => {
      const pair = pairs[number];
      return pair ? [askJudge(settings, pair, tunedFirst)] : [];
    }),
    tooLong: (tokens) =>
      refused(
        'settings.model',
        `${settings.model} reads and writes ${tokens} tokens at once, and an answer with its reference is longer. Choose another model.`,
      ),
  });
  return { id, settings, orders, ...quoted };
}

/** Both orders of each pair whose answers differ. */
function ordersOf(pairs: readonly Pair[]): Order[] {
  return pairs.flatMap((pair, number) =>
    isSame(pair) ? [] : [false, true].map((tunedFirst) => ({ row_number: number, tuned_first: tunedFirst })),
  );
}

/** What of the judgement before has no answer. */
async function readRest({ db }: Context, runId: string): Promise<Pick<Quoted, 'id' | 'settings' | 'orders'>> {
  const [before] = await selectJudgements(db, [runId]);
  const orders = before ? (await selectAnswers(db, before.id)).filter(({ text }) => text === null) : [];
  if (!before || orders.length === 0)
    throw new AppError('conflict', {
      publicMessage: 'The judge has nothing left to answer. Start with settings to ask it anew.',
    });
  const { id, model, prompt } = before;
  return { id, settings: { model, prompt }, orders };
}

/** The quote as the wire has it. */
export async function quoteJudgement(
  ctx: Context,
  chat: ChatParts,
  wanted: Wanted,
): Promise<ResponseOf<typeof endpoint>> {
  const { orders, highestMicro } = await readQuote(ctx, chat, wanted);
  return { requests: orders.length, highest_bgl: formatBgl(highestMicro) };
}
