import type { Currency } from '@bakehouse/contract/money';
import { currencyChoice, showApart } from './currency.ts';

/** Returns the required and available amounts in the display currency. Both are decimal BGL. */
export function insufficientBalance(
  required: string,
  available: string,
  currency: Currency = currencyChoice.get(),
): string {
  const [needed, there] = showApart(required, available, currency);
  return `Insufficient balance. Required: ${needed}. Available: ${there}.`;
}
