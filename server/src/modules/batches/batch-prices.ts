import type { PriceId, PriceList } from '../credits/prices/prices.ts';

const devices = ['CPU', 'GPU'] as const;
const kinds = ['prompt_tokens', 'completion_tokens', 'embedding_tokens'] as const;

/** What the tokens of a batch that begins now cost to its end. Pure. */
export function agreePrices(prices: PriceList): Record<string, string> {
  return Object.fromEntries(
    devices.flatMap((device) =>
      kinds.map((kind) => [`${kind}:${device}`, prices[`batch_${kind}:${device}`].unitPriceMicro.toString()]),
    ),
  );
}

/** The price list as it is for a batch: with what was agreed in place of what a call costs. Pure. */
export function withAgreedPrices(prices: PriceList, agreed: Record<string, string>): PriceList {
  const changed = Object.entries(agreed).map(([id, micro]) => [
    id,
    { ...prices[id as PriceId], unitPriceMicro: BigInt(micro) },
  ]);
  return { ...prices, ...(Object.fromEntries(changed) as Partial<PriceList>) };
}
