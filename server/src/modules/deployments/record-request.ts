import type { Context } from '../../platform/context.ts';
import { settle } from '../credits/ledger.ts';
import { costMicro } from '../credits/quote.ts';
import type { Usage } from './completion-stream.ts';
import { insertChatRequest } from './queries.ts';
import type { Route } from './resolve-model.ts';

type Answered = {
  id: string;
  at: Date;
  ok: boolean;
  usage: Usage;
  firstTokenMs: number | null;
  totalMs: number;
};

/** Keeps what a request used and settles its hold: the tokens that came, or nothing where none did. */
export async function recordRequest(ctx: Context, route: Route, holdId: string, answered: Answered): Promise<void> {
  const { usage } = answered;
  const amountMicro = costMicro([
    { priceId: route.prices.prompt, parts: BigInt(usage.promptTokens) },
    { priceId: route.prices.completion, parts: BigInt(usage.completionTokens) },
  ]);
  await ctx.db.transaction().execute(async (tx) => {
    await insertChatRequest(tx, {
      id: answered.id,
      userId: ctx.caller.userId,
      podId: route.podId,
      modelName: route.modelName,
      at: answered.at,
      ok: answered.ok,
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      firstTokenMs: answered.firstTokenMs,
      totalMs: answered.totalMs,
      costMicro: amountMicro,
    });
    await touch(tx, route, ctx.clock.now());
    await settle(tx, { holdId, amountMicro });
  });
}

/** The idle guard counts from the last request. */
async function touch(tx: Parameters<typeof insertChatRequest>[0], route: Route, now: Date): Promise<void> {
  await (route.podId
    ? tx.updateTable('deployments').set({ last_request_at: now }).where('id', '=', route.podId).execute()
    : tx.updateTable('text_servers').set({ starter_requested_at: now }).where('id', '=', route.server.id).execute());
}
