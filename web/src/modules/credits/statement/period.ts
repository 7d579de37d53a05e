/** Days of the reader's calendar, both inclusive; undefined is open. */
export type Period = { from?: string; to?: string };

/** Earlier days are slips of the keyboard. */
const FIRST_DAY = '2000-01-01';
/** A year that is being typed digit by digit passes through these. */
const TYPED_YEAR_END = '1000-01-01';

/**
 * What is wrong with each day, in words; empty where the period can be shown. A sentence may be empty: the day is
 * not finished yet.
 */
export function periodProblems({ from, to }: Period, today: string): Period {
  const problems = { ...problemOf('from', from, today), ...problemOf('to', to, today) };
  if (Object.keys(problems).length === 0 && from && to && from > to) {
    return { from: 'The first day cannot be after the last' };
  }
  return problems;
}

/** The part of a period that can be shown: what is wrong in it counts as open. */
export function usablePeriod(period: Period, today: string): Period {
  const problems = periodProblems(period, today);
  return {
    ...(problems.from === undefined && period.from !== undefined && { from: period.from }),
    ...(problems.to === undefined && period.to !== undefined && { to: period.to }),
  };
}

/** The period as the server is asked for it: with the name of the time zone whose days they are. */
export function withTimeZone(period: Period): Period & { time_zone: string } {
  return { ...period, time_zone: timeZone() };
}

/** An IANA name, from `Temporal` where the browser has it: the first use of `Intl` takes a phone longer than the dashboard does. */
function timeZone(): string {
  return 'Temporal' in globalThis
    ? Temporal.Now.timeZoneId()
    : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function problemOf(field: keyof Period, day: string | undefined, today: string): Period {
  if (day === undefined) return {};
  if (day > today) return { [field]: 'Choose today or an earlier day' };
  if (day >= FIRST_DAY) return {};
  return { [field]: day < TYPED_YEAR_END ? '' : 'Choose a day in 2000 or later' };
}
