import { chartColour } from '../../../../ui/chart-colour.ts';
import type { ChartSeries } from '../../../../ui/chart-plot.ts';

export type Point = { step: number; values: Record<string, number> };
type Curve = { x: number[]; series: ChartSeries[] };

type Dated = Point & { at: string };

/** Clocks of two machines may differ by this much; what came within it is read twice. */
const OVERLAP_MS = 60_000;

/** From when on points may be missing from those that are known; undefined: from the beginning. */
export function missingAfter(known: readonly Dated[]): string | undefined {
  if (known.length === 0) return undefined;
  // As text: a hundred thousand are not parsed for each that comes.
  const newest = known.reduce((latest, { at }) => (at > latest ? at : latest), '');
  return new Date(Date.parse(newest) - OVERLAP_MS).toISOString();
}

/** Those that are known, with what came since. A step may come again: its evaluation follows, or the run repeats it. */
export function joinPoints<P extends Dated>(known: readonly P[], came: readonly P[]): P[] {
  const first = came.reduce((least, { step }) => Math.min(least, step), Number.POSITIVE_INFINITY);
  // A hundred thousand are not sorted for each that comes.
  let end = known.length;
  while (end > 0 && (known[end - 1]?.step ?? first) >= first) end -= 1;
  const bySteps = new Map([...known.slice(end), ...came].map((point) => [point.step, point]));
  return [...known.slice(0, end), ...[...bySteps.values()].sort((one, other) => one.step - other.step)];
}

/** The steps that have any of the named values, and one line per name. */
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

/** The last value with a name; null where there is none yet. */
export function lastOf(points: readonly Point[], name: string): number | null {
  return points.findLast(({ values }) => values[name] !== undefined)?.values[name] ?? null;
}

/** One value of several runs on the union of their steps. */
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
