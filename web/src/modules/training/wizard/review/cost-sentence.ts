import { type Currency, isPositiveBgl, parseBgl } from '@bakehouse/contract/money';
import type { FineTuneValidation } from '@bakehouse/contract/training';
import { countOf } from '../../../../lib/format/count-of.ts';
import { showApart } from '../../../../lib/format/currency.ts';
import { aboutDuration } from '../../../../lib/format/format-time.ts';

type Checked = Pick<FineTuneValidation, 'cost_estimate' | 'data' | 'placement' | 'reading'>;

/**
 * '30 examples, about 8 min on this CPU, about $0.01, never more than $0.02.'
 * @param ceiling in BGL, as typed; the usual one where it is none.
 */
export function costSentence(
  { cost_estimate: cost, data, placement, reading }: Checked,
  ceiling: string,
  currency: Currency,
): string {
  const { total } = cost.quote;
  const highest = isPositiveBgl(ceiling) ? ceiling : cost.ceiling;
  const [expected, most] = showApart(total, highest, currency);
  const examples = data ? `${countOf(data.train_examples + data.eval_examples, 'example')}, ` : '';
  return [
    reading && data ? `About ${examples}` : examples,
    `${aboutDuration(cost.duration_hours * 3600)} on ${placement.device === 'cpu' ? 'this CPU' : 'a GPU'}, `,
    parseBgl(total) < parseBgl(highest) ? `about ${expected}, never more than ${most}.` : `at most ${most}.`,
  ].join('');
}
