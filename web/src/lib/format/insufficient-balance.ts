import type { Currency } from '@bakehouse/contract/money';
import { currencyChoice, showApart } from './currency.ts';

/** Says, in the chosen currency, what is to be paid and what there is. Both are decimal BGL. */
export function insufficientBalance(
  required: string,
  available: string,
  currency: Currency = currencyChoice.get(),
): string {
  const [needed, there] = showApart(required, available, currency);
  return `Insufficient balance. Required: ${needed}. Available: ${there}.`;
}
