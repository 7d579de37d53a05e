import { USD_CENTS_MAX, USD_CENTS_MIN } from '@bakehouse/contract/limits';
import { parseUsdCents } from '@bakehouse/contract/money';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { decimalProblem } from '../../../lib/format/typed-amount.ts';

const range = `Choose an amount from $${USD_CENTS_MIN / 100} to $${formatNumber(USD_CENTS_MAX / 100)}`;

/** Returns the problem of an amount in US dollars, if any. */
export function usdProblem(usd: string): string | undefined {
  const unreadable = decimalProblem(usd);
  if (unreadable) return unreadable;
  if (!/^\d{1,12}(\.\d{1,2})?$/.test(usd)) return range;
  const cents = parseUsdCents(usd);
  return cents >= USD_CENTS_MIN && cents <= USD_CENTS_MAX ? undefined : range;
}
