import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { endHold } from '../credits/ledger.ts';
import { costMicro } from '../credits/quote.ts';
import type { Usage } from './completion-stream.ts';
import { tokenPrices } from './find-model.ts';
import { insertChatRequest, type Way } from './queries.ts';

type Answered = {
  id: string;
  at: Date;
  ok: boolean;
  usage: Usage;
  firstTokenMs: number | null;
  totalMs: number;
};

/** Keeps what a request used and settles its hold: the tokens that came, or nothing where none did. */
export async function recordRequest(
  ctx: Context,
  way: Way,
  holdId: string,
  answered: Answered,
): Promise<void> {
  const { usage } = answered;
  const prices = tokenPrices(way);
  const amountMicro = costMicro([
    { priceId: prices.prompt, parts: BigInt(usage.promptTokens) },
    { priceId: prices.completion, parts: BigInt(usage.completionTokens) },
  ]);
  const { changed } = await inTransaction(ctx.db, async (tx) => {
    await insertChatRequest(tx, {
      id: answered.id,
      userId: ctx.caller.userId,
      podId: way.pod_id,
      modelName: way.model_name,
      at: answered.at,
      endedAt: ctx.clock.now(),
      ok: answered.ok,
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      firstTokenMs: answered.firstTokenMs,
      totalMs: answered.totalMs,
      costMicro: amountMicro,
    });
    return endHold(tx, { holdId, amountMicro });
  });
  // After the commit: transactions that announce commit one after the other.
  const { userId } = ctx.caller;
  if (changed !== null) ctx.events.announce(userId, { topic: 'balance', id: userId });
}
