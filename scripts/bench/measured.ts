/** One line of the benchmark's table. */
export type Measured = {
  name: string;
  unit: string;
  ours: number;
  /** The reference, measured at the same time. */
  reference?: { what: string; value: number };
  /** A line without a goal is informational. */
  goal?: Goal;
  /** A negative control: it must miss its goal; otherwise the measure is blind. */
  mustMiss?: boolean;
  /** Where the time went, if it misses its goal. */
  cause?: string;
};

type Goal =
  | { kind: 'ratio at least'; value: number }
  /** Alternatively, at most this much more, whichever is larger. */
  | { kind: 'ratio at most'; value: number; orMoreBy?: number }
  | { kind: 'more by less than'; value: number }
  | { kind: 'at least'; value: number }
  | { kind: 'less than'; value: number };

/** Returns the number that the goal is about: ours against the reference, or ours alone. */
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

/** Returns true if it meets its goal, or misses it as a negative control. */
export function isRight(measured: Measured): boolean {
  return measured.mustMiss ? !meetsGoal(measured) : meetsGoal(measured);
}

/** Returns the last word of the line. */
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

/** One round of a comparison: both sides measured right after each other. */
export type Pair = { ours: number; theirs: number };

/**
 * Returns the reference's median, and ours by the median ratio of the rounds. A machine's speed drifts by
 * more than the two differ, so separate medians would compare the drift.
 */
export function medianPair(rounds: Pair[]): Pair {
  const theirs = median(rounds.map((round) => round.theirs));
  return { theirs, ours: theirs * median(rounds.map((round) => round.ours / round.theirs)) };
}

/** Like `medianPair` by the median difference, for one side's overhead over the other. */
export function medianNeighbour(rounds: Pair[]): Pair {
  const theirs = median(rounds.map((round) => round.theirs));
  return { theirs, ours: theirs + median(rounds.map((round) => round.ours - round.theirs)) };
}
