import { type Currency, displayAmount, parseBgl } from '@bakehouse/contract/money';
import { storedChoice } from './stored-choice.ts';

/** The currency that the header's switch has chosen. */
export const currencyChoice = storedChoice<Currency>('bakehouse.currency', ['USD', 'BGL'], 'USD');

/**
 * A wire amount (decimal BGL) for people, in the chosen currency: '$5.00', '125.00 BGL'. Less than half a cent
 * is not nothing: '<$0.01'.
 */
export function showAmount(bgl: string, currency: Currency = currencyChoice.get()): string {
  const micro = parseBgl(bgl);
  const text = displayAmount(micro, currency);
  if (micro === 0n || !/^-?\$?0\.00( BGL)?$/.test(text)) return text;
  return `${micro < 0n ? '-' : ''}${currency === 'USD' ? '<$0.01' : '<0.01 BGL'}`;
}

/** The same as a hook: re-renders when the currency is switched. */
export function useShowAmount(): (bgl: string) => string {
  const currency = currencyChoice.use();
  return (bgl) => showAmount(bgl, currency);
}

/**
 * A number that already is in the currency, for a chart: '$0.50', '12.50 BGL'. It has as many decimals as an axis
 * up to `largest` needs: '$0.0025'. Never for an amount that is owed.
 */
export function showNumber(value: number, currency: Currency, largest: number): string {
  const magnitude = largest > 0 ? Math.floor(Math.log10(largest)) : 0;
  const text = value.toLocaleString('en', {
    minimumFractionDigits: 2,
    maximumFractionDigits: Math.min(20, Math.max(2, 2 - magnitude)),
  });
  return currency === 'USD' ? `$${text}` : `${text} BGL`;
}
