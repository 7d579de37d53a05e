const BINS = 12;

/** At most twelve ranges of one width. */
export type Bins = { min: number; max: number; width: number; count: number; isWhole: boolean };

/** Over which ranges numbers are spread, from the least to the greatest. Pure. */
export function binsOf(min: number, max: number, allWhole: boolean): Bins {
  if (min === max) return { min, max, width: 1, count: 1, isWhole: allWhole };
  const isWhole = allWhole && max - min < Number.MAX_SAFE_INTEGER;
  // Halves do not overflow where the difference of the whole would.
  const width = isWhole ? Math.ceil((max - min + 1) / BINS) : (max / 2 - min / 2) / (BINS / 2);
  return { min, max, width, count: isWhole ? Math.ceil((max - min + 1) / width) : BINS, isWhole };
}

/** From where to where the range goes, from 0. */
export function edgesOf({ min, max, width, count, isWhole }: Bins, at: number): { from: number; to: number } {
  if (count === 1) return { from: min, to: max };
  const from = min + at * width;
  return { from, to: Math.min(max, isWhole ? from + width - 1 : from + width) };
}
