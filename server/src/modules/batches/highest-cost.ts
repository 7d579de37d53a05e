import type { Context } from '../../platform/context.ts';
import { askedChoices } from '../chat/body/asked-choices.ts';
import { toInputs, tokensMax } from '../chat/embeddings/embedding-inputs.ts';
import { highestCostOfAll, usageBounds } from '../chat/requests/highest-cost.ts';
import { readInput } from '../chat/responses/kept-responses.ts';
import { toChat } from '../chat/responses/to-chat.ts';
import { tokenPrices } from '../chat/token-prices.ts';
import { withFunctions } from '../chat/tools/chat-tools.ts';
import { costMicro } from '../credits/prices/cost-micro.ts';
import type { PriceList } from '../credits/prices/prices.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';
import type { RequestBody } from './request-bodies.ts';

/** Returns the maximum cost of a request of a batch on the model's device. */
export async function highestRequestCostMicro(
  ctx: Context,
  asked: RequestBody,
  { prices, upstream }: { prices: PriceList; upstream: Pick<Upstream, 'accelerator' | 'context_tokens'> },
): Promise<bigint> {
  if (asked.endpoint === '/v1/embeddings') {
    const price = prices[`embedding_tokens:${upstream.accelerator ? 'GPU' : 'CPU'}`];
    return costMicro([
      { price, parts: BigInt(tokensMax(toInputs(asked.body.input), upstream.context_tokens)) },
    ]);
  }
  const chat =
    asked.endpoint === '/v1/responses'
      ? toChat(asked.body, await readInput(ctx, asked.body)).body
      : withFunctions(asked.body).body;
  const choices = askedChoices(chat).map(({ isFirst, body }) => ({
    isFirst,
    bounds: usageBounds(body, upstream),
  }));
  return highestCostOfAll(tokenPrices(upstream, prices), choices);
}
