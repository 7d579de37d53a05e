import { SPEND_DAYS_DEFAULT, SPEND_DAYS_MAX } from '@bakehouse/contract/limits';
import { DAY_MS } from '../../../platform/clock.ts';
import { AppError } from '../../../platform/errors.ts';

/**
 * Returns the first and last day to sum, both inclusive. Defaults to 30 days up to today in the time zone.
 * Throws AppError 'invalid_request' for more than a year, because all of it would be read.
 */
export function spendDays(
  asked: { from?: string | undefined; to?: string | undefined; timeZone: string },
  now: Date,
): { from: string; to: string } {
  const to = asked.to ?? dayIn(asked.timeZone, now);
  const from = asked.from ?? daysBefore(to, SPEND_DAYS_DEFAULT - 1);
  if (from < daysBefore(to, SPEND_DAYS_MAX - 1)) {
    throw new AppError('invalid_request', {
      publicMessage: `from and to must be within ${SPEND_DAYS_MAX} days: ask for ${from} to ${to} in parts`,
      param: 'from',
    });
  }
  return { from, to };
}

/** Returns today's date in the time zone, such as '2026-11-20'. */
function dayIn(timeZone: string, now: Date): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone }).format(now);
}

/** PostgreSQL's dates start at year 1. */
function daysBefore(day: string, days: number): string {
  const at = Math.max(Date.parse('0001-01-01'), Date.parse(day) - days * DAY_MS);
  return new Date(at).toISOString().slice(0, 10);
}
