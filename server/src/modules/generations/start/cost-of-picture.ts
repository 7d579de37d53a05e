import type { GenerationParameters } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import type { PriceList } from '../../credits/prices/prices.ts';

type Asked = { generator: GeneratorName; parameters: GenerationParameters };

/** What a picture costs in micro-BGL: its steps, for Paris those of all experts that generate it; all else here are FLUX models. Pure. */
export function costOfPicture(prices: PriceList, { generator, parameters }: Asked): bigint {
  const steps = BigInt(Number(parameters.num_inference_steps));
  if (generator !== 'paris') return costMicro([{ price: prices.edits, parts: steps }]);
  const experts = BigInt(Number(parameters.k));
  return costMicro([{ price: prices['pictures:CPU'], parts: steps * experts }]);
}
