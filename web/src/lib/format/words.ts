import { parseBgl } from '@bakehouse/contract/money';
import { getParser } from 'bowser';
import { amountsInCurrency, currencyChoice, showAmount } from './currency.ts';
import { formatNumber } from './format-number.ts';

/** Formats a count with its noun: '1 row', '1,200 rows', '2 copies'. Pass `many` for irregular plurals. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** Returns the charge for finished work, in decimal BGL: 'You were charged $0.50.' */
export function chargeText(bgl: string): string {
  return parseBgl(bgl) === 0n ? 'You were not charged.' : `You were charged ${showAmount(bgl)}.`;
}

/**
 * Returns why work ended and its charge, in the display currency: 'Out of memory. You were not charged.'
 * `charged` is null while unknown.
 */
export function outcomeText(reason: string, charged: string | null): string {
  const why =
    reason === '' ? [] : [amountsInCurrency(reason, currencyChoice.get(), showAmount).replace(/\.?$/, '.')];
  return [...why, ...(charged === null ? [] : [chargeText(charged)])].join(' ');
}

/** Returns a label such as 'Firefox on Linux', as far as the user agent tells. */
export function describeBrowser(userAgent: string): string {
  if (!userAgent) return 'Unknown browser';
  const { browser, os } = getParser(userAgent).getResult();
  if (!browser.name) return userAgent.split(' ')[0] ?? userAgent;
  return os.name ? `${browser.name} on ${os.name}` : browser.name;
}
