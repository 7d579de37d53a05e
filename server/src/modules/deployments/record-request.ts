import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { endHold } from '../credits/ledger.ts';
import { costMicro } from '../credits/quote.ts';
import type { Usage } from './completion-stream.ts';
import { tokenPrices } from './find-model.ts';
import { insertChatRequest, type Upstream } from './gateway-queries.ts';

/** What was held before the answer. */
export type RequestHold = { holdId: string; amountMicro: bigint };

type Answered = {
  id: string;
  at: Date;
  ok: boolean;
  usage: Usage;
  firstTokenMs: number | null;
  totalMs: number;
};

/**
 * Keeps what a request used and settles its hold: the tokens that were computed, never more than was
 * held, or nothing where none were. A hold that has run out meanwhile has gone back to its user.
 */
export async function recordRequest(
  ctx: Context,
  upstream: Upstream,
  hold: RequestHold,
  answered: Answered,
): Promise<void> {
  const { usage } = answered;
  const prices = tokenPrices(upstream);
  const cost = costMicro([
    { priceId: prices.prompt, parts: BigInt(usage.promptTokens) },
    { priceId: prices.completion, parts: BigInt(usage.completionTokens) },
  ]);
  const amountMicro = cost < hold.amountMicro ? cost : hold.amountMicro;
  try {
    await record(ctx, upstream, answered, { holdId: hold.holdId, amountMicro });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    ctx.log.warn({ request_id: answered.id }, 'the hold of a request had run out before it ended');
    await record(ctx, upstream, answered, null);
  }
}

async function record(
  ctx: Context,
  upstream: Upstream,
  answered: Answered,
  charge: { holdId: string; amountMicro: bigint } | null,
): Promise<void> {
  const changed = await inTransaction(ctx.db, async (tx) => {
    await insertChatRequest(tx, {
      id: answered.id,
      userId: ctx.caller.userId,
      podId: upstream.pod_id,
      modelName: upstream.model_name,
      at: answered.at,
      endedAt: ctx.clock.now(),
      ok: answered.ok,
      promptTokens: answered.usage.promptTokens,
      completionTokens: answered.usage.completionTokens,
      firstTokenMs: answered.firstTokenMs,
      totalMs: answered.totalMs,
      costMicro: charge?.amountMicro ?? 0n,
    });
    return charge && (await endHold(tx, charge)).changed;
  });
  // After the commit: transactions that announce commit one after the other.
  const { userId } = ctx.caller;
  if (changed !== null) ctx.events.announce(userId, { topic: 'balance', id: userId });
}
