/** The part that one expert has had so far, and its weight at each step. */
export type ExpertShare = { expert: number; share: number; weights: number[] };

/** From a row of weights for each step: one entry for each expert, in their order. */
export function expertShares(rows: readonly (readonly number[])[]): ExpertShare[] {
  const [first] = rows;
  if (!first) return [];
  return first.map((_, expert) => {
    const weights = rows.map((row) => row[expert] ?? 0);
    return { expert, share: weights.reduce((sum, weight) => sum + weight, 0) / rows.length, weights };
  });
}

/** The outline of one expert's weights as an SVG path: a bar for each step, one unit wide; `top` is as high as the drawing. */
export function outlineOf(weights: readonly number[], top: number): string {
  const bars = weights.map((weight, step) => `V${round(1 - weight / top)}H${step + 1}`);
  return `M0 1${bars.join('')}V1Z`;
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
