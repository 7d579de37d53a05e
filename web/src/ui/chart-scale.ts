import { axisDecimals } from '../lib/format/axis-decimals.ts';
import { withMinus } from '../lib/format/format-number.ts';

/**
 * Exponential moving average with bias correction, as in training dashboards. `weight` 0 changes nothing;
 * 0.99 is very smooth. Nulls stay null.
 */
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return [...values];
  let average = 0;
  let seen = 0;
  return values.map((value) => {
    if (value === null) return null;
    average = average * weight + (1 - weight) * value;
    seen += 1;
    return average / (1 - weight ** seen);
  });
}

/** Series with fewer values aren't downsampled. */
const VALUES_MAX = 5_000;
/** More than the pixel width of a chart on most screens. */
const WIDTHS = 1_000;

/**
 * Returns the ascending indexes of visible points: the first, the last, and each line's extremes in each of
 * 1,000 equal intervals of the ascending `x`. Returns null if all points should be drawn.
 */
export function visibleIndexes(
  x: readonly number[],
  lines: readonly (readonly (number | null)[])[],
): number[] | null {
  if (x.length <= VALUES_MAX) return null;
  const [first = 0] = x;
  const span = (x.at(-1) ?? first) - first;
  const seen = new Set([0, x.length - 1]);
  for (const values of lines) {
    const extremes = new Map<number, { least: number; most: number }>();
    for (const [place, value] of values.entries()) {
      if (value === null) continue;
      const width = Math.floor((((x[place] ?? first) - first) / span) * WIDTHS);
      const known = extremes.get(width);
      if (!known) extremes.set(width, { least: place, most: place });
      else if (value < (values[known.least] ?? value)) known.least = place;
      else if (value > (values[known.most] ?? value)) known.most = place;
    }
    for (const { least, most } of extremes.values()) seen.add(least).add(most);
  }
  return [...seen].sort((one, other) => one - other);
}

/** Returns cumulative sums for stacked bars; the last series is the total. */
export function stack(series: readonly (readonly (number | null)[])[]): number[][] {
  const sums: number[][] = [];
  for (const values of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => (below?.[index] ?? 0) + (value ?? 0)));
  }
  return sums;
}

/** Properties shared by all labels of an axis. */
export type Axis = {
  /** Distance between ticks. */
  step: number;
  /** Largest absolute value. */
  largest: number;
};

/**
 * Formats a number: 0.00012 -> '1.2e−4', 0.5123 -> '0.512', 12345 -> '12.3k'. With `axis`, all labels share
 * one unit and number of decimals: '0.0', '0.5', '1.0'.
 */
export function formatFigure(value: number, axis?: Axis): string {
  return withMinus(axis ? label(value, axis) : figure(value));
}

function figure(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 0.001) return value.toExponential(1);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(size >= 1000 ? 4 : 3)));
}

function label(value: number, { step, largest }: Axis): string {
  if (largest < 0.001) return value === 0 ? '0' : value.toExponential(1);
  const [unit, letter] = largest >= 1e6 ? [1e6, 'M'] : largest >= 1e4 ? [1e3, 'k'] : [1, ''];
  const text = (value / unit).toFixed(axisDecimals(step / unit));
  return value === 0 ? text : `${text}${letter}`;
}

/** Returns a y range for a constant series. Centers the value without crossing zero. */
export function rangeAround(value: number, logScale: boolean): [number, number] {
  if (value === 0) return [0, 1];
  if (logScale) return [value / 10, value * 10];
  return value > 0 ? [0, value * 2] : [value * 2, 0];
}
