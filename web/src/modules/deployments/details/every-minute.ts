import type { MetricsPoint } from '../use-deployments.ts';

const MINUTE_S = 60;
const HOUR_S = 3600;

/**
 * The points on an axis without gaps: one x (seconds since 1970) per minute of the hour up to `now` (milliseconds),
 * null for a minute without requests. Where this clock and the server's disagree, the axis reaches to the points.
 */
export function everyMinute(
  points: readonly MetricsPoint[],
  now: number,
): { x: number[]; minutes: (MetricsPoint | null)[] } {
  const byMinute = new Map(points.map((point) => [Date.parse(point.at) / 1000, point]));
  const thisMinute = Math.floor(now / 1000 / MINUTE_S) * MINUTE_S;
  const last = Math.max(thisMinute, ...byMinute.keys());
  const first = Math.min(thisMinute - HOUR_S, ...byMinute.keys());
  const x = Array.from({ length: (last - first) / MINUTE_S + 1 }, (_, index) => first + index * MINUTE_S);
  return { x, minutes: x.map((at) => byMinute.get(at) ?? null) };
}
