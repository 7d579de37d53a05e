import { smallerAmount } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import type { Reservation } from '../../credits/usage/usage-leader.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import type { ChatParts } from '../chat-parts.ts';
import type { Usage } from '../completion-stream.ts';
import type { TokenPrices } from '../token-prices.ts';

type Answered = {
  id: string;
  at: Date;
  ok: boolean;
  usage: Usage;
  firstTokenMs: number | null;
  totalMs: number;
};

/** Settles an answer's usage, up to the reserved amount, and records the request. */
export async function recordRequest(
  ctx: Context,
  { keepRequest }: Pick<ChatParts, 'keepRequest'>,
  {
    upstream,
    reservation,
    prices,
  }: {
    upstream: Pick<Upstream, 'pod_id' | 'model_name'>;
    reservation: Reservation;
    prices: TokenPrices;
  },
  { id, at, ok, usage, firstTokenMs, totalMs }: Answered,
): Promise<void> {
  const { promptTokens, completionTokens } = usage;
  const cost = costMicro([
    { price: prices.prompt, parts: BigInt(promptTokens) },
    { price: prices.completion, parts: BigInt(completionTokens) },
  ]);
  const amountMicro = smallerAmount(cost, reservation.priceMicro);
  const endedAt = ctx.clock.now();
  const quantities = {
    prompt_tokens: promptTokens,
    ...(completionTokens > 0 && { completion_tokens: completionTokens }),
  };
  reservation.settle(amountMicro > 0n ? { id, at: endedAt, amountMicro, quantities } : null);
  await keepRequest({
    id,
    userId: ctx.caller.userId,
    podId: upstream.pod_id,
    modelName: upstream.model_name,
    at,
    endedAt,
    ok,
    promptTokens,
    completionTokens,
    firstTokenMs,
    totalMs,
    costMicro: amountMicro,
  });
}
