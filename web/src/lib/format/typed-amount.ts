import {
  AMOUNT_LIMIT_BGL,
  BGL_PER_USD,
  type Currency,
  formatBgl,
  formatUsd,
  isPositiveBgl,
  isTooLarge,
  parseBgl,
} from '@bakehouse/contract/money';
import { showAmount } from './currency.ts';

/** What is wrong with the characters of a number; undefined where they are digits with one point at most. */
export function decimalProblem(text: string): string | undefined {
  return /^-?\d*\.?\d*$/.test(text.trim())
    ? undefined
    : 'Use only digits, and a point for decimals, e.g. 0.02';
}

/**
 * What is wrong with an amount as it was typed in a currency, in words that begin with `name`: it is above zero, with up
 * to two decimals.
 */
export function amountProblem(text: string, currency: Currency, name = 'Amount'): string | undefined {
  const unreadable = decimalProblem(text);
  if (unreadable) return unreadable;
  const number = text.trim();
  if (number.startsWith('-') || !/[1-9]/.test(number)) return `${name} must be greater than 0`;
  if (/\.\d{3}/.test(number)) return `${name} must have at most two decimals`;
  // In either currency it is too large before it is multiplied.
  if (isTooLarge(number) || isTooLarge(inBgl(number, currency))) return tooLarge(name, currency);
  return undefined;
}

/** The amount in decimal BGL; null where it is none. An amount in USD is multiplied by 25, exactly. */
export function amountInBgl(text: string, currency: Currency): string | null {
  return amountProblem(text, currency) === undefined ? inBgl(text.trim(), currency) : null;
}

function inBgl(number: string, currency: Currency): string {
  const [whole, decimals = ''] = number.split('.');
  const typed = parseBgl(`${whole?.replace(/^0+(?=\d)/, '') || '0'}.${decimals.padEnd(2, '0')}`);
  return formatBgl(currency === 'USD' ? typed * BGL_PER_USD : typed);
}

/** What is wrong with an amount of BGL that an `AmountField` holds, in words that begin with `name`. */
export function bglProblem(bgl: string, currency: Currency, name = 'Amount'): string | undefined {
  if (isTooLarge(bgl)) return tooLarge(name, currency);
  if (isPositiveBgl(bgl)) return undefined;
  return decimalProblem(bgl) ?? `${name} must be greater than 0, with at most 6 decimals`;
}

function tooLarge(name: string, currency: Currency): string {
  return `${name} must be less than ${showAmount(AMOUNT_LIMIT_BGL, currency)}`;
}

/** What was typed in a currency, as BGL, exactly; what is no amount, as dollars are none of BGL, stays for the form to refuse. */
export function toBgl(typed: string, currency: Currency): string {
  if (currency === 'BGL') return typed;
  const text = typed.replace(/^\$/, '');
  if (text === '') return text;
  try {
    return formatBgl(parseBgl(text) * BGL_PER_USD);
  } catch {
    return typed;
  }
}

/** The other way round: an amount of BGL as one would type it in a currency. */
export function fromBgl(bgl: string, currency: Currency): string {
  try {
    return bgl === '' ? '' : typedAmount(bgl, currency);
  } catch {
    return bgl;
  }
}

/** A wire amount as somebody would type it, exactly: it may have more decimals than can be typed. */
export function typedAmount(bgl: string, currency: Currency): string {
  const micro = parseBgl(bgl);
  return currency === 'USD' ? formatUsd(micro) : formatBgl(micro);
}
