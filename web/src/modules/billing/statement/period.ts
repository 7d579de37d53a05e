/** Days in the user's calendar, both inclusive; undefined is open. */
export type Period = { from?: string; to?: string };

/** Earlier days are rejected as typing errors. */
const FIRST_DAY = '2000-01-01';
/** A year below this is still being typed, e.g. 0020 on the way to 2026. */
const TYPED_YEAR_END = '1000-01-01';

/** Returns the problem of each invalid day. An empty text means that the day is still being typed. */
export function periodProblems({ from, to }: Period, today: string): Period {
  const problems = { ...problemOf('from', from, today), ...problemOf('to', to, today) };
  if (Object.keys(problems).length === 0 && from && to && from > to) {
    return { from: 'The first day cannot be after the last' };
  }
  return problems;
}

/** Returns the valid part of a period; invalid days count as open. */
export function usablePeriod(period: Period, today: string): Period {
  const problems = periodProblems(period, today);
  return {
    ...(problems.from === undefined && period.from !== undefined && { from: period.from }),
    ...(problems.to === undefined && period.to !== undefined && { to: period.to }),
  };
}

/** Adds the user's time zone, as the server requires. */
export function withTimeZone(period: Period): Period & { time_zone: string } {
  return { ...period, time_zone: timeZone() };
}

/**
 * Returns the IANA name. Prefers `Temporal`, because the first use of `Intl` on a phone is slower than
 * rendering the dashboard.
 */
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
