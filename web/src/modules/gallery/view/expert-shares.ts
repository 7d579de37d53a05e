/** The mean share of one expert, and its weight at each step. */
export type ExpertShare = { expert: number; share: number; weights: number[] };

/** Converts one row of weights per step into one entry per expert, in order. */
export function expertShares(rows: readonly (readonly number[])[]): ExpertShare[] {
  const [first] = rows;
  if (!first) return [];
  return first.map((_, expert) => {
    const weights = rows.map((row) => row[expert] ?? 0);
    return { expert, share: weights.reduce((sum, weight) => sum + weight, 0) / rows.length, weights };
  });
}

/**
 * Returns the outline of an expert's weights as an SVG path: one unit-wide bar per step, scaled so that `top`
 * is the full height.
 */
export function outlineOf(weights: readonly number[], top: number): string {
  const bars = weights.map((weight, step) => `V${round(1 - weight / top)}H${step + 1}`);
  return `M0 1${bars.join('')}V1Z`;
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
