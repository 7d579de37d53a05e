const dayMs = 86_400_000;
const relative = new Intl.RelativeTimeFormat('en');

/**
 * Returns 'Today', 'Yesterday' or a full date such as 'Friday, 20 November 2026', in the user's time zone.
 */
export function dayHeading(date: Date, now: Date = new Date()): string {
  const days = Math.round((startOfDay(now) - startOfDay(date)) / dayMs);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return date.toLocaleDateString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  });
}

/** Returns the date in the user's time zone, as '2026-11-20'. */
export function localDay(date: Date): string {
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;
}

/** Returns the last second of a date such as '2026-11-20', in the user's time zone. */
export function endOfDay(day: string): Date {
  return new Date(`${day}T23:59:59`);
}

/** 'Just now', '5 minutes ago', '3 hours ago', '2 days ago'. */
export function relativeTime(date: Date, now: Date = new Date()): string {
  const minutes = Math.floor((now.getTime() - date.getTime()) / 60_000);
  if (minutes < 1) return 'Just now';
  if (minutes < 60) return relative.format(-minutes, 'minute');
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? relative.format(-hours, 'hour') : relative.format(-Math.floor(hours / 24), 'day');
}

/** Formats seconds: '45 s', '3 min 20 s', '2 h 5 min'. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return join(Math.floor(whole / 60), 'min', whole % 60, 's');
  return join(Math.floor(whole / 3_600), 'h', Math.floor((whole % 3_600) / 60), 'min');
}

/**
 * Formats a rough estimate: 'a few seconds', 'about 40 s', 'about 4 min', 'about 25 min', 'about 1 h 30 min',
 * 'about 12 h'. The steps are coarse so that it doesn't jump with every update.
 */
export function aboutDuration(seconds: number): string {
  if (seconds < 10) return 'a few seconds';
  const steps = [
    { below: 60, step: 10 },
    { below: 600, step: 60 },
    { below: 3_600, step: 300 },
    { below: 6 * 3_600, step: 1_800 },
  ];
  const step = steps.find(({ below }) => seconds < below)?.step ?? 3_600;
  return `about ${formatDuration(step * Math.round(seconds / step))}`;
}

/** 20 Nov 2026, 06:05. */
export function formatDateTime(date: Date): string {
  return date.toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  });
}

/** 06:05. */
export function formatClock(date: Date): string {
  return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

/** '21 Nov 2026', in the user's time zone. */
export function formatDay(date: Date): string {
  return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
}

function startOfDay(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}
