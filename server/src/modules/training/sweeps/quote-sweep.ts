import type { InputOf } from '@bakehouse/contract/endpoint';
import { fixedAmount, formatBgl } from '@bakehouse/contract/money';
import { nameCombination } from '@bakehouse/contract/sweep-axes';
import type { quoteSweep as endpoint, SweepQuote } from '@bakehouse/contract/sweeps';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { quote } from '../../credits/prices/quote.ts';
import { usualCeilingMicro } from '../charges/ceiling.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { runItems } from '../validation/estimate-run.ts';
import { type CheckedRun, checkSweep, type SweepCheck } from './check-sweep.ts';
import { sayOnce } from './say-once.ts';
import { sumMicro } from './sum-micro.ts';

/** What the runs of a sweep would cost together, and what stands in their way. Changes nothing. */
export async function quoteSweep(
  ctx: Context,
  parts: TrainingParts,
  { body }: InputOf<typeof endpoint>,
  http: Pick<Http, 'reply'>,
): Promise<SweepQuote> {
  const { runs, faults } = await checkSweep(ctx, parts, body, http);
  const { validation } = runs[0].check;
  const warnings = runs.flatMap(({ combination, check }) =>
    check.validation.warnings.map((message) => ({ combination, message, about: null })),
  );
  const places = new Set(runs.map(({ check }) => check.place.description));
  return {
    ...validation,
    critical_errors: faults.map(({ message }) => message),
    warnings: sayOnce(warnings, runs.length).map(({ message }) => message),
    cost_estimate: sumCosts(runs),
    // Of one run; none is chosen for all of them.
    recommendations: { recommended_gpus: [] },
    placement: { ...validation.placement, description: [...places].join(' ') },
    runs: runs.map(({ combination, check }) => ({
      parameters: combination,
      cost: formatBgl(check.costMicro),
      duration_hours: check.seconds / 3600,
    })),
  };
}

/** An item for each run: their sum is the sum of what each is quoted, held and charged at. Pure. */
function sumCosts(runs: SweepCheck['runs']): SweepQuote['cost_estimate'] {
  const costMicro = sumMicro(runs, ({ check }) => check.costMicro);
  const itemsOf = ({ combination, check: { price, seconds, place } }: CheckedRun) =>
    runItems(price, seconds, place.devices, nameCombination(combination));
  return {
    ...runs[0].check.validation.cost_estimate,
    usd_cost: fixedAmount(costMicro, 'USD'),
    token_cost: fixedAmount(costMicro, 'BGL'),
    duration_hours: runs.reduce((sum, { check }) => sum + check.seconds, 0) / 3600,
    quote: quote(runs.flatMap(itemsOf)),
    ceiling: formatBgl(sumMicro(runs, ({ check }) => usualCeilingMicro(check.costMicro))),
  };
}
