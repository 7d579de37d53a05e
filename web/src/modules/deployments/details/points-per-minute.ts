import type { MetricsPoint } from '../use-deployments.ts';

const MINUTE_S = 60;
const HOUR_S = 3600;

/**
 * Returns the points on a gapless axis: one x (seconds since 1970) per minute of the hour up to `now`
 * (milliseconds), null for a minute without requests. The axis extends to points outside it if the clocks
 * differ.
 */
export function pointsPerMinute(
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
