import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { readPrices } from '../../credits/prices/read-prices.ts';

/** Describes how to call a fine-tune, and its cost besides tokens. */
export async function describeCall({ db, clock, config }: Context, name: string): Promise<string> {
  const prices = await readPrices(db, clock.now());
  const [cpu, gpu] = (['text_serving:CPU', 'text_serving:GPU'] as const).map((id) =>
    formatBgl(prices[id].unitPriceMicro),
  );
  const sleep =
    config.idleMinutes > 0
      ? `, and lets it sleep after ${config.idleMinutes} minutes without one`
      : ', until you terminate it';
  return `Call it as the model '${name}'. Its first call deploys it, at ${cpu} BGL an hour on the CPU or ${gpu} on a GPU${sleep}`;
}
