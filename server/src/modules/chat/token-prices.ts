import type { Price, PriceList } from '../credits/prices/prices.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';

/** What an answer costs: for each million tokens, those of the prompt and those that are written. */
export type TokenPrices = { prompt: Price; completion: Price };

/** The prices of tokens where the model is served. Pure. */
export function tokenPrices({ accelerator }: Pick<Upstream, 'accelerator'>, prices: PriceList): TokenPrices {
  const device = accelerator ? 'GPU' : 'CPU';
  return { prompt: prices[`prompt_tokens:${device}`], completion: prices[`completion_tokens:${device}`] };
}
