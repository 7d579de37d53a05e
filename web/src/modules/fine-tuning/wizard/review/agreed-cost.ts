import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { formatBgl, isPositiveBgl, parseBgl, smallerAmount } from '@bakehouse/contract/money';

type CostEstimate = FineTuneValidation['cost_estimate'];

/** The estimated cost of a run. */
export type Priced = {
  cost_estimate: Pick<CostEstimate, 'ceiling'> & { quote: Pick<CostEstimate['quote'], 'total'> };
};

/** Returns what is held when the run starts, in BGL: the quote, or the ceiling if that is lower. */
export function holdAtStart({ cost_estimate: { quote } }: Priced, ceiling: string): string {
  return isPositiveBgl(ceiling)
    ? formatBgl(smallerAmount(parseBgl(quote.total), parseBgl(ceiling)))
    : quote.total;
}

/** Returns the most that the run may cost, in BGL: the typed ceiling, or the default one. */
export function highestCost({ cost_estimate: cost }: Priced, ceiling: string): string {
  return isPositiveBgl(ceiling) ? formatBgl(parseBgl(ceiling)) : cost.ceiling;
}
