import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { settle } from '../credits/ledger.ts';
import { costMicro } from '../credits/quote.ts';
import type { Usage } from './completion-stream.ts';
import { tokenPrices } from './find-model.ts';
import { insertChatRequest, noteRequestBegan, setStarterRequested, type Way } from './queries.ts';

/** The idle guard counts in minutes: a note this often is enough, and keeps requests from queueing for one row. */
const NOTE_EVERY_MS = 30_000;

type Answered = {
  id: string;
  at: Date;
  ok: boolean;
  usage: Usage;
  firstTokenMs: number | null;
  totalMs: number;
};

/** Tells the idle guard that the model is in use, before it works. */
export async function noteBegin(ctx: Context, way: Way): Promise<void> {
  const now = ctx.clock.now();
  if (way.last_request_at && now.getTime() - way.last_request_at.getTime() < NOTE_EVERY_MS) return;
  if (way.pod_id) await noteRequestBegan(ctx.db, way.pod_id, now);
  // A starter model that nobody has asked for is woken first.
  else if (way.last_request_at) await setStarterRequested(ctx.db, way.server_id, now);
}

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
  await inTransaction(ctx.db, async (tx) => {
    await insertChatRequest(tx, {
      id: answered.id,
      userId: ctx.caller.userId,
      podId: way.pod_id,
      modelName: way.model_name,
      at: answered.at,
      ok: answered.ok,
      promptTokens: usage.promptTokens,
      completionTokens: usage.completionTokens,
      firstTokenMs: answered.firstTokenMs,
      totalMs: answered.totalMs,
      costMicro: amountMicro,
    });
    await settle(tx, { holdId, amountMicro });
  });
}
