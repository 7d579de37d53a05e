import type { ChartSeries } from '../../ui/chart.tsx';

export type Point = { step: number; values: Record<string, number> };
type Curve = { x: number[]; series: ChartSeries[] };

/** The steps that have any of the named values, and one line per name. */
export function curvesOf(points: readonly Point[], names: readonly { name: string; label: string }[]): Curve {
  const shown = points.filter((point) => names.some(({ name }) => point.values[name] !== undefined));
  return {
    x: shown.map((point) => point.step),
    series: names
      .filter(({ name }) => shown.some((point) => point.values[name] !== undefined))
      .map(({ name, label }) => ({ label, values: shown.map((point) => point.values[name] ?? null) })),
  };
}

/** One value of several runs on the union of their steps. */
export function overlay(runs: readonly { label: string; points: readonly Point[] }[], name: string): Curve {
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
    series: runs.map(({ label }, index) => ({
      label,
      values: x.map((step) => byStep[index]?.get(step) ?? null),
    })),
  };
}
