const PLACES_MAX = 12;

/** How many decimals it takes to tell apart the labels of an axis that stand `step` apart: 3 for 0.005, none for 20. */
export function placesOf(step: number): number {
  let places = 0;
  while (places < PLACES_MAX && !isWhole(step * 10 ** places)) places += 1;
  return places;
}

/** But for what a double cannot hold. */
function isWhole(value: number): boolean {
  const whole = Math.round(value);
  return whole !== 0 && Math.abs(value - whole) < 1e-6;
}
