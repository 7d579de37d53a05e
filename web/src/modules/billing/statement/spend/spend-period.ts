import { SPEND_DAYS_DEFAULT, SPEND_DAYS_MAX } from '@bakehouse/contract/limits';
import type { Period } from '../period.ts';

const DAY_MS = 86_400_000;

/** The displayed days of a period, within the server's limit; `days` describes them. */
export type SpendPeriod = { from: string; to?: string; days: string };

/** Returns at most a year; without a first day, the last 30 days. */
export function spendPeriod({ from, to }: Period, today: string): SpendPeriod {
  const last = to ?? today;
  if (from === undefined) {
    const first = daysBefore(last, SPEND_DAYS_DEFAULT - 1);
    const days = `Last ${SPEND_DAYS_DEFAULT} days: ${inWords(first, last)}`;
    // Omit `to` if possible, so that a page that stays open past midnight includes the new day.
    return { from: first, ...(to !== undefined && { to }), days };
  }
  const first = daysBefore(last, SPEND_DAYS_MAX - 1);
  return from < first
    ? { from: first, to: last, days: `Last ${SPEND_DAYS_MAX} days: ${inWords(first, last)}` }
    : { from, to: last, days: inWords(from, last) };
}

function inWords(from: string, to: string): string {
  return from === to ? dayInWords(to) : `${dayInWords(from)} to ${dayInWords(to)}`;
}

function dayInWords(day: string): string {
  return new Date(day).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
}

function daysBefore(day: string, days: number): string {
  return new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10);
}
