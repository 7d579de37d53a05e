import { PRICE_AHEAD_DAYS_MAX, UNIT_PRICE_MAX_BGL } from '@bakehouse/contract/limits';
import { MICRO_PER_BGL, parseBgl } from '@bakehouse/contract/money';
import { currencyChoice, showBoth } from '../../../lib/format/currency.ts';
import { bglProblem } from '../../../lib/format/typed-amount.ts';
import type { Price } from './price-units.ts';

export type PriceForm = {
  /** In BGL; what is no amount as it was typed. */
  amount: string;
  when: 'now' | 'later';
  /** A local time as the browser's field has it; empty where it is not whole. */
  at: string;
};

/** What the price is, and the change that is to come. */
type CurrentPrice = Pick<Price, 'unit_price' | 'next'>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** What is wrong with the form, by field. */
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
  // Where a change is to come, today's price withdraws it.
  return micro === parseBgl(unit_price) && !next ? { amount: 'This is already the price' } : {};
}

function momentProblem(at: string, now: Date): { at?: string } {
  if (at === '') return { at: 'Enter the date and the time' };
  const ahead = new Date(at).getTime() - now.getTime();
  if (ahead <= 0) return { at: 'Choose a later time, or change the price now' };
  return ahead > PRICE_AHEAD_DAYS_MAX * DAY_MS
    ? { at: `Choose a time within ${PRICE_AHEAD_DAYS_MAX} days` }
    : {};
}
