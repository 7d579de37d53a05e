import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { type Currency, parseBgl } from '@bakehouse/contract/money';
import { countOf } from '../../../../lib/format/count-of.ts';
import { showApart, showLimit } from '../../../../lib/format/currency.ts';
import { aboutDuration } from '../../../../lib/format/format-time.ts';
import { highestCost } from './agreed-cost.ts';

type Checked = Pick<FineTuneValidation, 'cost_estimate' | 'data' | 'placement' | 'reading'>;

/**
 * Returns '30 examples, about 8 min on this CPU, about $0.01, never more than $0.02.'
 * @param ceiling in BGL, as typed; empty for the default.
 */
export function costSentence(checked: Checked, ceiling: string, currency: Currency): string {
  const { cost_estimate: cost, data, placement, reading } = checked;
  const { total } = cost.quote;
  const highest = highestCost(checked, ceiling);
  const [expected] = showApart(total, highest, currency);
  const most = showLimit(highest, currency);
  const examples = data ? `${countOf(data.train_examples + data.eval_examples, 'example')}, ` : '';
  const device = placement.device === 'cpu' ? 'this CPU' : 'a GPU';
  return [
    reading && data ? `About ${examples}` : examples,
    `${aboutDuration(cost.duration_hours * 3600)} on ${device}, `,
    parseBgl(total) < parseBgl(highest) ? `about ${expected}, never more than ${most}.` : `at most ${most}.`,
  ].join('');
}
