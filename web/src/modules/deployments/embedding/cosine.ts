/** How near two vectors are: 1 for the same direction, 0 for none in common. */
export function cosine(one: readonly number[], other: readonly number[]): number {
  const dot = one.reduce((sum, number, index) => sum + number * (other[index] ?? 0), 0);
  return dot / (Math.hypot(...one) * Math.hypot(...other) || 1);
}
