const PLACES_MAX = 12;

/** Returns the decimals needed to distinguish axis labels that are `step` apart: 3 for 0.005, 0 for 20. */
export function axisDecimals(step: number): number {
  let places = 0;
  while (places < PLACES_MAX && !isWhole(step * 10 ** places)) places += 1;
  return places;
}

/** Tolerates floating point error. */
function isWhole(value: number): boolean {
  const whole = Math.round(value);
  return whole !== 0 && Math.abs(value - whole) < 1e-6;
}
