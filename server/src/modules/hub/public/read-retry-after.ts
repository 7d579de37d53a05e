/** The pause that a Retry-After asks for, in milliseconds: of seconds or of a date; null where there is none. Pure. */
export function readRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now.getTime();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
