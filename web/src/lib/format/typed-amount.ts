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

/** Returns an error unless the text consists of digits with at most one decimal point. */
export function decimalProblem(text: string): string | undefined {
  return /^-?\d*\.?\d*$/.test(text.trim())
    ? undefined
    : 'Use only digits, and a point for decimals, e.g. 0.02';
}

/**
 * Returns the error for a typed amount, starting with `name`. Amounts must be positive, with at most two
 * decimals.
 */
export function amountProblem(text: string, currency: Currency, name = 'Amount'): string | undefined {
  const unreadable = decimalProblem(text);
  if (unreadable) return unreadable;
  const number = text.trim();
  if (number.startsWith('-') || !/[1-9]/.test(number)) return `${name} must be greater than 0`;
  if (/\.\d{3}/.test(number)) return `${name} must have at most two decimals`;
  // Check both currencies before multiplying.
  if (isTooLarge(number) || isTooLarge(inBgl(number, currency))) return tooLarge(name, currency);
  return undefined;
}

/** Returns the amount in decimal BGL, or null if invalid. Converts USD exactly, at 25 BGL per dollar. */
export function amountInBgl(text: string, currency: Currency): string | null {
  return amountProblem(text, currency) === undefined ? inBgl(text.trim(), currency) : null;
}

function inBgl(number: string, currency: Currency): string {
  const [whole, decimals = ''] = number.split('.');
  const typed = parseBgl(`${whole?.replace(/^0+(?=\d)/, '') || '0'}.${decimals.padEnd(2, '0')}`);
  return formatBgl(currency === 'USD' ? typed * BGL_PER_USD : typed);
}

/** Returns the error for the BGL value of an `AmountField`, starting with `name`. */
export function bglProblem(bgl: string, currency: Currency, name = 'Amount'): string | undefined {
  if (isTooLarge(bgl)) return tooLarge(name, currency);
  if (isPositiveBgl(bgl)) return undefined;
  return decimalProblem(bgl) ?? `${name} must be greater than 0, with at most 6 decimals`;
}

function tooLarge(name: string, currency: Currency): string {
  return `${name} must be less than ${showAmount(AMOUNT_LIMIT_BGL, currency)}`;
}

/** Converts a typed amount to exact BGL. Returns invalid text unchanged, for the form to reject. */
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

/** Converts BGL to the text a user would type in a currency. */
export function fromBgl(bgl: string, currency: Currency): string {
  try {
    return bgl === '' ? '' : typedAmount(bgl, currency);
  } catch {
    return bgl;
  }
}

/** Formats an API amount exactly as a user would type it; may have more decimals than the form accepts. */
export function typedAmount(bgl: string, currency: Currency): string {
  const micro = parseBgl(bgl);
  return currency === 'USD' ? formatUsd(micro) : formatBgl(micro);
}
