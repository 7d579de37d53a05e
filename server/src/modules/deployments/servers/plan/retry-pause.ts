const FIRST_S = 5;
const LONGEST_S = 300;

/** For how many seconds a model server rests after so many failed starts in a row. Pure. */
export function retryPause(failedStarts: number): number {
  return Math.min(FIRST_S * 2 ** (failedStarts - 1), LONGEST_S);
}
