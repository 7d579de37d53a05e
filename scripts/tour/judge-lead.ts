/** Maximum probability that a model passes although it is not better than its base. */
const CHANCE_MAX = 1 / 1000;

export type Lead = {
  /** Number of questions that only the first model answers correctly, or only the second. */
  wins: number;
  losses: number;
  /** Probability of at least this many wins if neither model is better. */
  chance: number;
  isProven: boolean;
};

/**
 * Decides whether one model answers the same questions better than another one. Uses the sign test on the
 * questions that exactly one of them answers correctly, so that it does not matter how hard the questions
 * are.
 */
export function judgeLead(first: readonly boolean[], second: readonly boolean[]): Lead {
  const wins = first.filter((right, index) => right && !second[index]).length;
  const losses = second.filter((right, index) => right && !first[index]).length;
  const chance = chanceOf(wins, wins + losses);
  return { wins, losses, chance, isProven: chance < CHANCE_MAX };
}

/** Returns the probability of at least `heads` heads in `tosses` tosses. */
function chanceOf(heads: number, tosses: number): number {
  let ways = 1;
  let sum = 0;
  for (let count = 0; count <= tosses; count += 1) {
    if (count >= heads) sum += ways;
    ways = (ways * (tosses - count)) / (count + 1);
  }
  return sum / 2 ** tosses;
}
