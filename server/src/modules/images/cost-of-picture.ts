import type { GenerationParameters } from '@bakehouse/contract/generations';
import { costMicro } from '../credits/prices/cost-micro.ts';
import type { PriceList } from '../credits/prices/prices.ts';

/** What a picture costs in micro-BGL: the steps of all experts that draw it. Pure. */
export function costOfPicture(prices: PriceList, parameters: GenerationParameters): bigint {
  const experts = BigInt(Number(parameters.k));
  const steps = BigInt(Number(parameters.num_inference_steps));
  return costMicro([{ price: prices['pictures:CPU'], parts: steps * experts }]);
}
