const BINS = 12;

type Bin = { from: number; to: number; count: number };

/** How numbers are spread over at most twelve bins of one width, each from its first number to its last. Pure. */
export function spread(numbers: readonly number[]): Bin[] {
  if (numbers.length === 0) return [];
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const number of numbers) {
    min = Math.min(min, number);
    max = Math.max(max, number);
  }
  if (min === max) return [{ from: min, to: max, count: numbers.length }];
  const isWhole = max - min < Number.MAX_SAFE_INTEGER && numbers.every(Number.isSafeInteger);
  // Halves do not overflow where the difference of the whole would.
  const width = isWhole ? Math.ceil((max - min + 1) / BINS) : (max / 2 - min / 2) / (BINS / 2);
  const count = isWhole ? Math.ceil((max - min + 1) / width) : BINS;
  const bins = Array.from({ length: count }, (_, at): Bin => {
    const from = min + at * width;
    return { from, to: Math.min(max, isWhole ? from + width - 1 : from + width), count: 0 };
  });
  for (const number of numbers) {
    const bin = bins[Math.min(count - 1, Math.floor(number / width - min / width))];
    if (bin) bin.count += 1;
  }
  return bins;
}
