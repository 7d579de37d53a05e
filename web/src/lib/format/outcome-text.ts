import { parseBgl } from '@bakehouse/contract/money';
import { amountsInCurrency, currencyChoice, showAmount } from './currency.ts';

/** What work has cost that has ended, given in decimal BGL: 'You were charged $0.50.' */
export function chargeText(bgl: string): string {
  return parseBgl(bgl) === 0n ? 'You were not charged.' : `You were charged ${showAmount(bgl)}.`;
}

/**
 * Why work has ended, and what it has cost, both in the chosen currency: 'Out of memory. You were not charged.' `charged`
 * is null until that is known.
 */
export function outcomeText(reason: string, charged: string | null): string {
  const why =
    reason === '' ? [] : [amountsInCurrency(reason, currencyChoice.get(), showAmount).replace(/\.?$/, '.')];
  return [...why, ...(charged === null ? [] : [chargeText(charged)])].join(' ');
}
