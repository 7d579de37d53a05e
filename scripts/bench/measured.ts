/** One line of the benchmark's table. */
export type Measured = {
  name: string;
  unit: string;
  ours: number;
  /** What it is compared with, measured beside it. */
  reference?: { what: string; value: number };
  /** Without one the line is there to be read. */
  goal?: Goal;
  /** A negative control: it is known to miss its goal, and a measure that says otherwise sees nothing. */
  mustMiss?: boolean;
  /** Where it misses its goal: what the time went to. */
  cause?: string;
};

type Goal =
  | { kind: 'ratio at least'; value: number }
  /** Or more by at most so much, where that is larger. */
  | { kind: 'ratio at most'; value: number; orMoreBy?: number }
  | { kind: 'more by less than'; value: number }
  | { kind: 'at least'; value: number }
  | { kind: 'less than'; value: number };

/** The number that the goal is about: ours against the reference, or ours alone. */
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

/** Meets its goal, or misses it where it has to. */
export function isRight(measured: Measured): boolean {
  return measured.mustMiss ? !meetsGoal(measured) : meetsGoal(measured);
}

/** The last word of the line. */
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

/** One round of a comparison: both were measured one right after the other. */
export type Pair = { ours: number; theirs: number };

/**
 * The reference's median, and ours in the ratio that the two have in the middle round. A machine's
 * speed drifts by more than the two differ, so that two medians apart would compare its moods.
 */
export function medianPair(rounds: Pair[]): Pair {
  const theirs = median(rounds.map((round) => round.theirs));
  return { theirs, ours: theirs * median(rounds.map((round) => round.ours / round.theirs)) };
}

/** The same by the difference in the middle round, for what one side adds to the other. */
export function medianNeighbour(rounds: Pair[]): Pair {
  const theirs = median(rounds.map((round) => round.theirs));
  return { theirs, ours: theirs + median(rounds.map((round) => round.ours - round.theirs)) };
}
