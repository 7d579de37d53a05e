import { parseBgl } from '@bakehouse/contract/money';
import { showAmount } from './currency.ts';

/** Returns the charge for finished work, in decimal BGL: 'You were charged $0.50.' */
export function chargeText(bgl: string): string {
  return parseBgl(bgl) === 0n ? 'You were not charged.' : `You were charged ${showAmount(bgl)}.`;
}

/**
 * Returns why work ended and its charge, in the display currency: 'Out of memory. You were not charged.'
 * `charged` is null while unknown.
 */
export function outcomeText(reason: string, charged: string | null): string {
  const why = reason === '' ? [] : [reason.replace(/\.?$/, '.')];
  return [...why, ...(charged === null ? [] : [chargeText(charged)])].join(' ');
}
