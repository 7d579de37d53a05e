const HOUR_MS = 60 * 60 * 1000;

/** What has ended since then has ended lately. */
export function recently(now: Date): Date {
  return new Date(now.getTime() - HOUR_MS);
}
