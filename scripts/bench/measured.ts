/** One line of the benchmark's table. */
export type Measured = {
  name: string;
  unit: string;
  ours: number;
  /** What it is compared with, measured beside it. */
  reference?: { what: string; value: number };
  goal:
    | { kind: 'ratio at least'; value: number }
    | { kind: 'more by less than'; value: number }
    | { kind: 'less than'; value: number };
};

/** The number that the goal is about: ours against the reference, or ours alone. */
export function result({ ours, reference, goal }: Measured): number {
  if (goal.kind === 'less than' || !reference) return ours;
  return goal.kind === 'ratio at least' ? ours / reference.value : ours - reference.value;
}

export function meetsGoal(measured: Measured): boolean {
  const { kind, value } = measured.goal;
  return kind === 'ratio at least' ? result(measured) >= value : result(measured) < value;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
