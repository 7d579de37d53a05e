import { formatBgl, isPositiveBgl, parseBgl, smallerAmount } from '@bakehouse/contract/money';
import type { Validation } from '../wizard-calls.ts';

/** What a run is estimated to cost, or each run of a sweep. */
export type Priced = {
  cost_estimate: Pick<Validation['cost_estimate'], 'ceiling'> & {
    quote: Pick<Validation['cost_estimate']['quote'], 'total'>;
  };
  runs?: Pick<NonNullable<Validation['runs']>[number], 'cost'>[] | undefined;
};

/** What is held when it starts, in BGL: the quote of each run, or a lower ceiling, which is that of each. */
export function holdAtStart({ cost_estimate: { quote }, runs }: Priced, ceiling: string): string {
  if (!isPositiveBgl(ceiling)) return quote.total;
  const costs = runs?.map(({ cost }) => cost) ?? [quote.total];
  const held = costs.map((cost) => smallerAmount(parseBgl(cost), parseBgl(ceiling)));
  return formatBgl(held.reduce((sum, micro) => sum + micro, 0n));
}

/** What it costs at most, in BGL: the ceiling of each run as typed; the usual ones where it is none. */
export function highestCost({ cost_estimate: cost, runs }: Priced, ceiling: string): string {
  if (!isPositiveBgl(ceiling)) return cost.ceiling;
  return formatBgl(parseBgl(ceiling) * BigInt(runs?.length ?? 1));
}

/** What the dearest of the runs is expected to cost, in BGL. */
export function dearest({ cost_estimate: { quote }, runs }: Priced): string {
  const costs = runs?.map(({ cost }) => cost) ?? [quote.total];
  return costs.reduce((most, cost) => (parseBgl(cost) > parseBgl(most) ? cost : most));
}
