import type { PriceId, PriceList } from '../billing/prices/prices.ts';

const devices = ['CPU', 'GPU'] as const;
const kinds = ['prompt_tokens', 'completion_tokens', 'embedding_tokens'] as const;

/** Returns the fixed token prices of a batch that starts now. */
export function agreePrices(prices: PriceList): Record<string, string> {
  return Object.fromEntries(
    devices.flatMap((device) =>
      kinds.map((kind) => [`${kind}:${device}`, prices[`batch_${kind}:${device}`].unitPriceMicro.toString()]),
    ),
  );
}

/** Returns the price list of a batch, with its agreed prices instead of the current ones. */
export function withAgreedPrices(prices: PriceList, agreed: Record<string, string>): PriceList {
  const changed = Object.entries(agreed).map(([id, micro]) => [
    id,
    { ...prices[id as PriceId], unitPriceMicro: BigInt(micro) },
  ]);
  return { ...prices, ...(Object.fromEntries(changed) as Partial<PriceList>) };
}
