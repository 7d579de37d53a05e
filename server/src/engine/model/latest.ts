/** The later of two moments; null where there is neither. Pure. */
export function latest(a: Date | null, b: Date | null): Date | null {
  if (!a || !b) return a ?? b;
  return a > b ? a : b;
}
