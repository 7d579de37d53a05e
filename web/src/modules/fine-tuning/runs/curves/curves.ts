import { chartColour } from '../../../../ui/chart-colour.ts';
import type { ChartSeries } from '../../../../ui/chart-plot.ts';

export type Point = { step: number; values: Record<string, number> };
type Curve = { x: number[]; series: ChartSeries[] };

type Dated = Point & { at: string };

/** Refetches the last minute of known points, because the clocks of machines may differ. */
const OVERLAP_MS = 60_000;

/** Returns the time from which to fetch points; undefined to fetch all. */
export function refetchPointsAfter(known: readonly Dated[]): string | undefined {
  if (known.length === 0) return undefined;
  // Compare as strings, to avoid parsing a hundred thousand dates per update.
  const newest = known.reduce((latest, { at }) => (at > latest ? at : latest), '');
  return new Date(Date.parse(newest) - OVERLAP_MS).toISOString();
}

/**
 * Merges new points into known ones. A step may arrive again, with its evaluation or after a resume.
 */
export function mergePoints<P extends Dated>(known: readonly P[], came: readonly P[]): P[] {
  const first = came.reduce((least, { step }) => Math.min(least, step), Number.POSITIVE_INFINITY);
  // Only sort the end, not a hundred thousand points per update.
  let end = known.length;
  while (end > 0 && (known[end - 1]?.step ?? first) >= first) end -= 1;
  const bySteps = new Map([...known.slice(end), ...came].map((point) => [point.step, point]));
  return [...known.slice(0, end), ...[...bySteps.values()].sort((one, other) => one.step - other.step)];
}

/** Returns the steps with any of the named values, and one line per name. */
export function curvesOf(points: readonly Point[], names: readonly { name: string; label: string }[]): Curve {
  const shown = points.filter((point) => names.some(({ name }) => point.values[name] !== undefined));
  return {
    x: shown.map((point) => point.step),
    series: names
      .map((one, place) => ({ ...one, color: chartColour(place) }))
      .filter(({ name }) => shown.some((point) => point.values[name] !== undefined))
      .map(({ name, label, color }) => ({
        label,
        color,
        values: shown.map((point) => point.values[name] ?? null),
      })),
  };
}

/** Returns the last value with this name, or null. */
export function lastOf(points: readonly Point[], name: string): number | null {
  return points.findLast(({ values }) => values[name] !== undefined)?.values[name] ?? null;
}

/** Returns one value of several runs on the union of their steps. */
export function overlay(
  runs: readonly (Pick<ChartSeries, 'label' | 'color'> & { points: readonly Point[] })[],
  name: string,
): Curve {
  const byStep = runs.map(
    ({ points }) =>
      new Map(
        points
          .filter((point) => point.values[name] !== undefined)
          .map((point) => [point.step, point.values[name]]),
      ),
  );
  const x = [...new Set(byStep.flatMap((steps) => [...steps.keys()]))].sort((a, b) => a - b);
  return {
    x,
    series: runs.map(({ points: _, ...look }, index) => ({
      ...look,
      values: x.map((step) => byStep[index]?.get(step) ?? null),
    })),
  };
}
