/** One line of the benchmark's table. */
export type Measured = {
  name: string;
  unit: string;
  ours: number;
  /** The reference, measured at the same time. */
  reference?: { what: string; value: number };
  /** Goal that the line must meet. Without one, the line is only informational. */
  goal?: Goal;
  /** True for a negative control, which must miss its goal. If it does not, the measurement is wrong. */
  mustMiss?: boolean;
  /** Where the time went, if the line misses its goal. */
  cause?: string;
};

type Goal =
  | { kind: 'ratio at least'; value: number }
  /** Met too if our value is at most `orMoreBy` larger than the reference. */
  | { kind: 'ratio at most'; value: number; orMoreBy?: number }
  | { kind: 'more by less than'; value: number }
  | { kind: 'at least'; value: number }
  | { kind: 'less than'; value: number };

/** Returns the number to compare with the goal: the ratio or difference to the reference, or ours. */
export function result({ ours, reference, goal }: Measured): number {
  if (reference && goal?.kind.startsWith('ratio')) return ours / reference.value;
  if (reference && goal?.kind === 'more by less than') return ours - reference.value;
  return ours;
}

function meetsGoal(measured: Measured): boolean {
  const { goal } = measured;
  if (!goal) return true;
  if (goal.kind.endsWith('at least')) return result(measured) >= goal.value;
  if (goal.kind === 'ratio at most' && goal.orMoreBy !== undefined) {
    const { value = Number.NaN } = measured.reference ?? {};
    if (measured.ours - value <= goal.orMoreBy) return true;
  }
  if (goal.kind.endsWith('at most')) return result(measured) <= goal.value;
  return result(measured) < goal.value;
}

/** Returns true if the line meets its goal, or if it is a negative control and misses it. */
export function isRight(measured: Measured): boolean {
  return measured.mustMiss ? !meetsGoal(measured) : meetsGoal(measured);
}

/** Returns the verdict, which is at the end of the line. */
export function verdict(measured: Measured): string {
  if (!measured.goal) return '';
  if (measured.mustMiss) return isRight(measured) ? 'missed, as it must' : 'MET, BUT IT MUST MISS';
  return meetsGoal(measured) ? 'met' : 'MISSED';
}

export function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** One round of a comparison. Both sides are measured directly after each other. */
export type Pair = { ours: number; theirs: number };

/**
 * Returns the median of the reference, and our value by the median ratio of the rounds. Separate medians
 * would compare different times: the speed of a machine changes by more than the two sides differ.
 */
export function medianPair(rounds: Pair[]): Pair {
  const theirs = median(rounds.map((round) => round.theirs));
  return { theirs, ours: theirs * median(rounds.map((round) => round.ours / round.theirs)) };
}

/** Like `medianPair`, but by the median difference: for the overhead of one side compared to the other. */
export function medianNeighbour(rounds: Pair[]): Pair {
  const theirs = median(rounds.map((round) => round.theirs));
  return { theirs, ours: theirs + median(rounds.map((round) => round.ours - round.theirs)) };
}
