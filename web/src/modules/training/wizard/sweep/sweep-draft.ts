import { numberProblem } from '@bakehouse/contract/fields/number-field';
import { type Adaptation, fineTuneNumbers } from '@bakehouse/contract/fine-tune-numbers';
import type { Objective } from '@bakehouse/contract/limits';
import {
  countRuns,
  notSweptWith,
  REPEATED_PARAMETER,
  REPEATED_VALUE,
  SWEEP_RUNS_MAX,
  SWEEP_VALUES_MAX,
  SWEEP_VALUES_MIN,
  type SweepAxis,
  type SweepParameter,
  sweptWith,
  TOO_FEW_VALUES,
  TOO_MANY_VALUES,
  tooManyRuns,
} from '@bakehouse/contract/sweep-axes';

/** A parameter of a sweep with its values as they are typed: '0.001, 0.0002'. */
export type AxisDraft = { parameter: SweepParameter; values: string };

/** None: one run. */
export type SweepDraft = readonly AxisDraft[];

type Training = { objective: Objective; adaptation: Adaptation };

type AxisProblems = { parameter?: string; values?: string };

/** What is asked for, once nothing is wrong with it. */
export function toAxes(sweep: SweepDraft): SweepAxis[] {
  return sweep.map(({ parameter, values }) => ({ parameter, values: typedOf(values).map(Number) }));
}

/** What is wrong with each parameter, by the rules of its own field, and with all of them together. */
export function axisProblems(sweep: SweepDraft, training: Training): AxisProblems[] {
  const ofEach = sweep.map((draft, at): AxisProblems => {
    const isRepeated = sweep.findIndex(({ parameter }) => parameter === draft.parameter) < at;
    const parameter = isRepeated
      ? REPEATED_PARAMETER
      : sweptWith(training).includes(draft.parameter)
        ? undefined
        : notSweptWith(training, draft.parameter);
    const values = valuesProblem(draft);
    return { ...(parameter && { parameter }), ...(values && { values }) };
  });
  const count = countRuns(toAxes(sweep));
  const isMany = count > SWEEP_RUNS_MAX && ofEach.every(({ values }) => values === undefined);
  return isMany ? ofEach.map((one) => ({ ...one, values: tooManyRuns(count) })) : ofEach;
}

/** The first of these problems; undefined: none. */
export function sweepProblem(sweep: SweepDraft, training: Training): string | undefined {
  return axisProblems(sweep, training)
    .flatMap(({ parameter, values }) => [parameter, values])
    .find((problem) => problem !== undefined);
}

function valuesProblem({ parameter, values }: AxisDraft): string | undefined {
  const typed = typedOf(values);
  const numbers = typed.map(Number);
  const wrong = typed.find((_, at) => Number.isNaN(numbers[at]));
  if (wrong !== undefined) return `${wrong} is not a number`;
  const problem = numbers.map((one) => numberProblem(fineTuneNumbers[parameter], one)).find(Boolean);
  if (problem) return problem;
  if (numbers.length < SWEEP_VALUES_MIN) return TOO_FEW_VALUES;
  if (numbers.length > SWEEP_VALUES_MAX) return TOO_MANY_VALUES;
  return new Set(numbers).size < numbers.length ? REPEATED_VALUE : undefined;
}

function typedOf(values: string): string[] {
  return values.split(/[\s,;]+/).filter(Boolean);
}
