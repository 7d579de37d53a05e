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
  return micro !== 0n && /^-?\$?0\.00( BGL)?$/.test(text)
    ? currency === 'USD'
      ? '<$0.01'
      : '<0.01 BGL'
    : text;
}

/** The same as a hook: re-renders when the currency is switched. */
export function useShowAmount(): (bgl: string) => string {
  const currency = currencyChoice.use();
  return (bgl) => showAmount(bgl, currency);
}

/** A number that already is in the currency, for a chart: '$0.50', '12.50 BGL'. Never for an amount that is owed. */
export function showNumber(value: number, currency: Currency): string {
  return currency === 'USD' ? `$${value.toFixed(2)}` : `${value.toFixed(2)} BGL`;
}
