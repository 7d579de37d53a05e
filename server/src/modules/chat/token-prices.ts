import type { Price, PriceList } from '../billing/prices/prices.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';

/** Prices per million prompt tokens and per million completion tokens. */
export type TokenPrices = { prompt: Price; completion: Price };

/** Returns the token prices for the device (CPU or GPU) that serves the model. */
export function tokenPrices({ accelerator }: Pick<Upstream, 'accelerator'>, prices: PriceList): TokenPrices {
  const device = accelerator ? 'GPU' : 'CPU';
  return { prompt: prices[`prompt_tokens:${device}`], completion: prices[`completion_tokens:${device}`] };
}
