const BINS = 12;

/** At most twelve ranges of equal width. */
export type Bins = { min: number; max: number; width: number; count: number; isWhole: boolean };

/** Returns the histogram ranges between the smallest and the largest number. */
export function binsOf(min: number, max: number, allWhole: boolean): Bins {
  if (min === max) return { min, max, width: 1, count: 1, isWhole: allWhole };
  const isWhole = allWhole && max - min < Number.MAX_SAFE_INTEGER;
  // Half values don't overflow if the difference of the full values would.
  const width = isWhole ? Math.ceil((max - min + 1) / BINS) : (max / 2 - min / 2) / (BINS / 2);
  return { min, max, width, count: isWhole ? Math.ceil((max - min + 1) / width) : BINS, isWhole };
}

/** Returns the bounds of a range, by its zero-based index. */
export function edgesOf({ min, max, width, count, isWhole }: Bins, at: number): { from: number; to: number } {
  if (count === 1) return { from: min, to: max };
  const from = min + at * width;
  return { from, to: Math.min(max, isWhole ? from + width - 1 : from + width) };
}
