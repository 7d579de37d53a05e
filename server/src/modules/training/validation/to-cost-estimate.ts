import { fixedAmount, formatBgl } from '@bakehouse/contract/money';
import type { FineTuneValidation } from '@bakehouse/contract/training';
import type { Price } from '../../credits/prices/prices.ts';
import { quote } from '../../credits/prices/quote.ts';
import { usualCeilingMicro } from '../charges/ceiling.ts';
import type { RunPlace } from '../place-run.ts';
import { describeLoad } from './estimate-load.ts';
import { runCostMicro, runItems } from './estimate-run.ts';

/** Returns the cost estimate of a run with this duration, for the wizard. */
export function toCostEstimate(
  { gpu, devices, priceLabel }: RunPlace,
  price: Price,
  seconds: number,
  slowdown: number,
): FineTuneValidation['cost_estimate'] {
  const costMicro = runCostMicro(price, seconds, devices);
  return {
    usd_cost: fixedAmount(costMicro, 'USD'),
    duration_hours: seconds / 3600,
    token_cost: fixedAmount(costMicro, 'BGL'),
    quote: quote(runItems(price, seconds, devices, priceLabel)),
    ceiling: formatBgl(usualCeilingMicro(costMicro)),
    slowdown: gpu === null ? slowdown : 1,
    load: gpu === null ? describeLoad(slowdown) : null,
  };
}
