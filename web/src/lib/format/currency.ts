import {
  BGL_PER_USD,
  type Currency,
  displayAmount,
  EXACT_PLACES,
  formatBgl,
  formatUsd,
  parseBgl,
  placesFor,
} from '@bakehouse/contract/money';
import { storedChoice } from '../stored-choice.ts';
import { axisDecimals } from './axis-decimals.ts';
import { formatNumber } from './format-number.ts';

/** The display currency chosen in the header. */
export const currencyChoice = storedChoice<Currency>('bakehouse.currency', ['USD', 'BGL'], 'USD');

/**
 * Formats an API amount (decimal BGL) in the display currency: '$5.00', '125.00 BGL'. Below a cent,
 * amounts have two significant digits, '$0.0023', and tiny ones only a bound, '<$0.0001'.
 */
export function showAmount(bgl: string, currency: Currency = currencyChoice.get()): string {
  const micro = parseBgl(bgl);
  const [size, least] = [micro < 0n ? -micro : micro, MICRO[currency] / 10_000n];
  if (micro !== 0n && size < least) {
    const bound = displayAmount(least, currency, 4);
    return micro < 0n ? `−${bound} or less` : `<${bound}`;
  }
  return displayAmount(micro, currency, placesFor(micro, currency));
}

/** Formats an API amount without rounding, for confirmations and limits; at least two decimals. */
export function showUnrounded(bgl: string, currency: Currency = currencyChoice.get()): string {
  const micro = parseBgl(bgl);
  const [, decimals = ''] = (currency === 'USD' ? formatUsd(micro) : formatBgl(micro)).split('.');
  return displayAmount(micro, currency, Math.max(2, decimals.length));
}

/** Formats a maximum charge, rounded up to two significant digits: '$0.014', '$0.02', '0.35 BGL'. */
export function showLimit(bgl: string, currency: Currency = currencyChoice.get()): string {
  const micro = parseBgl(bgl);
  const zeros = /^0\.(0*)/.exec(currency === 'USD' ? formatUsd(micro) : formatBgl(micro))?.[1]?.length ?? 0;
  const places = Math.min(zeros + 2, EXACT_PLACES[currency]);
  const step = MICRO[currency] / 10n ** BigInt(places) || 1n;
  const up = ((micro + step - 1n) / step) * step;
  return displayAmount(up, currency, up % (MICRO[currency] / 100n) === 0n ? 2 : places);
}

/** Formats an exact price in both currencies: '$0.025 = 0.625 BGL'. */
export function showBoth(bgl: string): string {
  return `${showUnrounded(bgl, 'USD')} = ${showUnrounded(bgl, 'BGL')}`;
}

/** Formats two different API amounts with enough decimals to distinguish them: ['$0.0134', '$0.0131']. */
export function showApart(
  one: string,
  other: string,
  currency: Currency = currencyChoice.get(),
): [string, string] {
  const show = (bgl: string, least: number) => {
    const micro = parseBgl(bgl);
    return displayAmount(micro, currency, Math.max(least, placesFor(micro, currency)));
  };
  let least = 2;
  while (least < EXACT_PLACES[currency] && show(one, least) === show(other, least)) least += 1;
  return [show(one, least), show(other, least)];
}

const MICRO = { USD: BGL_PER_USD * 1_000_000n, BGL: 1_000_000n };
const ROOM = 12;
const SCALES = [
  [1_000_000_000n, 'B'],
  [1_000_000n, 'M'],
  [1_000n, 'K'],
] as const;

/**
 * Formats an amount for a narrow header. Long amounts are abbreviated to thousands, millions or billions,
 * rounded towards zero so that a balance never looks larger than it is: '$1.23M'.
 */
export function showShort(bgl: string, currency: Currency = currencyChoice.get()): string {
  const text = showAmount(bgl, currency);
  const whole = parseBgl(bgl) / MICRO[currency];
  const [scale, letter] = SCALES.find(([least]) => whole >= least) ?? [1n, ''];
  if (text.length <= ROOM || letter === '') return text;
  const hundredths = (whole * 100n) / scale;
  const number = `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}${letter}`;
  return currency === 'USD' ? `$${number}` : `${number} BGL`;
}

/** `showAmount` as a hook: rerenders when the currency changes. */
export function useShowAmount(): (bgl: string) => string {
  const currency = currencyChoice.use();
  return (bgl) => showAmount(bgl, currency);
}

/**
 * Formats a chart value that is already in the currency: '$0.50', '12.50 BGL'. Uses as many decimals as a
 * chart up to `largest` needs ('$0.0025'); axis labels, `step` apart, all have the same number. Don't use it
 * for amounts owed.
 */
export function showNumber(
  value: number,
  currency: Currency,
  { largest, step }: { largest: number; step?: number },
): string {
  const magnitude = largest > 0 ? Math.floor(Math.log10(largest)) : 0;
  const most = Math.max(2, step === undefined ? Math.min(20, 2 - magnitude) : axisDecimals(step));
  const text = formatNumber(value, {
    minimumFractionDigits: step === undefined ? 2 : most,
    maximumFractionDigits: most,
  });
  // The minus sign precedes the currency symbol.
  return currency === 'USD' ? text.replace(/^−?/, '$&$$') : `${text} BGL`;
}
