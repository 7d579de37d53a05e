export type ChartColour = 1 | 2 | 3 | 4 | 5;

/** The colour for one of several by its place among all that there may be, which keeps it where others are left out. */
export function chartColour(place: number): ChartColour {
  return ((place % 5) + 1) as ChartColour;
}
