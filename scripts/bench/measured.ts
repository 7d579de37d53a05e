/** One line of the benchmark's table. */
export type Measured = {
  name: string;
  unit: string;
  ours: number;
  /** What it is compared with, measured beside it. */
  reference?: { what: string; value: number };
  /** Without one the line is there to be read. */
  goal?: Goal;
};

type Goal =
  | { kind: 'ratio at least'; value: number }
  | { kind: 'ratio at most'; value: number }
  | { kind: 'more by less than'; value: number }
  | { kind: 'at least'; value: number }
  | { kind: 'less than'; value: number };

/** The number that the goal is about: ours against the reference, or ours alone. */
export function result({ ours, reference, goal }: Measured): number {
  if (reference && goal?.kind.startsWith('ratio')) return ours / reference.value;
  if (reference && goal?.kind === 'more by less than') return ours - reference.value;
  return ours;
}

export function meetsGoal(measured: Measured): boolean {
  const { goal } = measured;
  if (!goal) return true;
  if (goal.kind.endsWith('at least')) return result(measured) >= goal.value;
  if (goal.kind.endsWith('at most')) return result(measured) <= goal.value;
  return result(measured) < goal.value;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
