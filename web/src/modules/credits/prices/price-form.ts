import { isPositiveBgl, MICRO_PER_BGL, parseBgl } from '@bakehouse/contract/money';
import { PRICE_AHEAD_DAYS_MAX, UNIT_PRICE_MAX } from '@bakehouse/contract/prices';

export type PriceForm = {
  /** BGL, as it was typed. */
  amount: string;
  when: 'now' | 'later';
  /** A local time as the browser's field has it; empty where it is not whole. */
  at: string;
};

const DAY_MS = 24 * 60 * 60 * 1000;

/** What is wrong with the form, by field. */
export function priceProblems(
  { amount, when, at }: PriceForm,
  now: Date,
): Partial<Record<'amount' | 'at', string>> {
  return {
    ...(!isPositiveBgl(amount) && { amount: 'Price must be greater than 0, with at most 6 decimals' }),
    ...(isPositiveBgl(amount) &&
      parseBgl(amount) > BigInt(UNIT_PRICE_MAX) * MICRO_PER_BGL && {
        amount: `Price must be at most ${UNIT_PRICE_MAX.toLocaleString('en-US')} BGL`,
      }),
    ...(when === 'later' && momentProblem(at, now)),
  };
}

function momentProblem(at: string, now: Date): { at?: string } {
  if (at === '') return { at: 'Enter the date and the time' };
  const ahead = new Date(at).getTime() - now.getTime();
  if (ahead <= 0) return { at: 'Choose a later time, or change the price now' };
  return ahead > PRICE_AHEAD_DAYS_MAX * DAY_MS
    ? { at: `Choose a time within ${PRICE_AHEAD_DAYS_MAX} days` }
    : {};
}
