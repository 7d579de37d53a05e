export type ChartColour = 1 | 2 | 3 | 4 | 5;

/**
 * Returns the colour for an index among all possible series, so that colours stay stable when some are
 * hidden.
 */
export function chartColour(place: number): ChartColour {
  return ((place % 5) + 1) as ChartColour;
}
