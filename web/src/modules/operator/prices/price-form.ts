import { PRICE_AHEAD_DAYS_MAX, UNIT_PRICE_MAX_BGL } from '@bakehouse/contract/limits';
import { MICRO_PER_BGL, parseBgl } from '@bakehouse/contract/money';
import { currencyChoice, showBoth } from '../../../lib/format/currency.ts';
import { bglProblem } from '../../../lib/format/typed-amount.ts';
import type { Price } from '../../billing/price-columns.tsx';

export type PriceForm = {
  /** In BGL; an invalid amount stays as typed. */
  amount: string;
  when: 'now' | 'later';
  /** A local time in the format of the browser's field; empty if incomplete. */
  at: string;
};

/** The current price and the upcoming change. */
type CurrentPrice = Pick<Price, 'unit_price' | 'next'>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the form's problems by field. */
export function priceProblems(
  { amount, when, at }: PriceForm,
  price: CurrentPrice,
  now: Date,
): Partial<Record<'amount' | 'at', string>> {
  return { ...amountProblem(amount, price), ...(when === 'later' && momentProblem(at, now)) };
}

function amountProblem(amount: string, { unit_price, next }: CurrentPrice): { amount?: string } {
  const problem = bglProblem(amount, currencyChoice.get(), 'Price');
  if (problem) return { amount: problem };
  const micro = parseBgl(amount);
  if (micro > BigInt(UNIT_PRICE_MAX_BGL) * MICRO_PER_BGL)
    return { amount: `Price must be at most ${showBoth(String(UNIT_PRICE_MAX_BGL))}` };
  // If a change is upcoming, today's price withdraws it.
  return micro === parseBgl(unit_price) && !next ? { amount: 'This is the current price' } : {};
}

function momentProblem(at: string, now: Date): { at?: string } {
  if (at === '') return { at: 'Enter the date and the time' };
  const ahead = new Date(at).getTime() - now.getTime();
  if (ahead <= 0) return { at: 'Choose a later time, or change the price now' };
  return ahead > PRICE_AHEAD_DAYS_MAX * DAY_MS
    ? { at: `Choose a time within ${PRICE_AHEAD_DAYS_MAX} days` }
    : {};
}
