/** A model that is no better than its base may pass once in so many tours. */
const CHANCE_MAX = 1 / 1000;

export type Lead = {
  /** Questions that the first model alone answers rightly, and the second one alone. */
  wins: number;
  losses: number;
  /** How likely so many wins are where neither is better. */
  chance: number;
  isProven: boolean;
};

/**
 * Whether one model answers better than another, asked the same questions: the sign test over those that one of them
 * alone has right, which says nothing of how hard they are. Pure.
 */
export function judgeLead(first: readonly boolean[], second: readonly boolean[]): Lead {
  const wins = first.filter((right, index) => right && !second[index]).length;
  const losses = second.filter((right, index) => right && !first[index]).length;
  const chance = chanceOf(wins, wins + losses);
  return { wins, losses, chance, isProven: chance < CHANCE_MAX };
}

/** How likely at least `heads` of `tosses` fall on one side. */
function chanceOf(heads: number, tosses: number): number {
  let ways = 1;
  let sum = 0;
  for (let count = 0; count <= tosses; count += 1) {
    if (count >= heads) sum += ways;
    ways = (ways * (tosses - count)) / (count + 1);
  }
  return sum / 2 ** tosses;
}
