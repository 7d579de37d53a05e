/** The chance that a model no better than its base passes. */
const CHANCE_MAX = 1 / 1000;

export type Lead = {
  /** Number of questions that only the first model answers correctly, or only the second. */
  wins: number;
  losses: number;
  /** Probability of this many wins if neither is better. */
  chance: number;
  isProven: boolean;
};

/**
 * Returns whether one model answers the same questions better than another, by the sign test over those that
 * exactly one has right, which ignores how hard they are.
 */
export function judgeLead(first: readonly boolean[], second: readonly boolean[]): Lead {
  const wins = first.filter((right, index) => right && !second[index]).length;
  const losses = second.filter((right, index) => right && !first[index]).length;
  const chance = chanceOf(wins, wins + losses);
  return { wins, losses, chance, isProven: chance < CHANCE_MAX };
}

/** Probability that at least `heads` of `tosses` fall on one side. */
function chanceOf(heads: number, tosses: number): number {
  let ways = 1;
  let sum = 0;
  for (let count = 0; count <= tosses; count += 1) {
    if (count >= heads) sum += ways;
    ways = (ways * (tosses - count)) / (count + 1);
  }
  return sum / 2 ** tosses;
}
