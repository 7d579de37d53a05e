import { fineTuneNumbers } from '@bakehouse/contract/fine-tune-numbers';
import { countRuns, SWEEP_AXES_MAX, type SweepParameter, sweptWith } from '@bakehouse/contract/sweep-axes';
import { countOf } from '../../../../lib/format/count-of.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Disclosure } from '../../../../ui/disclosure.tsx';
import { Field } from '../../../../ui/field.tsx';
import { Input } from '../../../../ui/input.tsx';
import { Select } from '../../../../ui/select.tsx';
import type { Wizard } from '../wizard-state.ts';
import { axisProblems, type SweepDraft, sweepProblem, toAxes } from './sweep-draft.ts';

type Props = { wizard: Pick<Wizard, 'state' | 'problems' | 'dispatch'> };

const NONE = 'none';

/** What people try first. */
const examples: Record<SweepParameter, string> = {
  learning_rate: '0.0001, 0.0002, 0.0005',
  lora_r: '8, 16, 32',
  epochs: '1, 2, 3',
  batch_size: '1, 2, 4',
  gradient_accumulation_steps: '1, 4, 8',
  warmup_ratio: '0, 0.03, 0.1',
  weight_decay: '0, 0.01, 0.1',
  max_grad_norm: '0.3, 1',
  lora_dropout: '0, 0.05, 0.1',
  neftune_noise_alpha: '0, 5',
  beta: '0.05, 0.1, 0.3',
  sft_weight: '0, 0.5, 1',
  desirable_weight: '1, 2',
  undesirable_weight: '1, 2',
  generations: '4, 8',
};

/** Turns a run into one for each combination of a few values, of one parameter or two. */
export function SweepFields({ wizard: { state, problems: shown, dispatch } }: Props) {
  const { sweep } = state;
  const training = state.parameters;
  const onChange = (changed: SweepDraft) => dispatch({ do: 'change', values: { sweep: changed } });
  const isTried = shown.sweep !== undefined;
  const problems = isTried ? axisProblems(sweep, training) : [];
  const count = countRuns(toAxes(sweep));
  const isComplete = sweep.length > 0 && sweepProblem(sweep, training) === undefined;
  const places = [...sweep.keys(), sweep.length].slice(0, SWEEP_AXES_MAX);
  const set = (at: number, parameter: SweepParameter | typeof NONE) =>
    onChange(
      parameter === NONE
        ? sweep.filter((_, place) => place !== at)
        : sweep.toSpliced(at, 1, { parameter, values: examples[parameter] }),
    );
  return (
    <Disclosure title="Sweep" defaultOpen={sweep.length > 0} hasProblem={isTried}>
      <p className="mb-4 text-[0.8125rem] text-muted">
        Tries several values, with a run for each, in place of the one above. All runs are measured on the
        same held-out rows.
      </p>
      <div className="grid gap-5">
        {places.map((at) => {
          const axis = sweep[at];
          const others = sweep.filter((_, place) => place !== at).map(({ parameter }) => parameter);
          return (
            // A parameter keeps its place.
            <div key={at} className="grid gap-5 sm:grid-cols-2">
              <Field
                label={at === 0 ? 'First parameter' : 'Second parameter'}
                error={problems[at]?.parameter}
              >
                <Select<SweepParameter | typeof NONE>
                  value={axis?.parameter ?? NONE}
                  onChange={(parameter) => set(at, parameter)}
                  options={optionsOf(training, axis?.parameter, others)}
                />
              </Field>
              {axis && (
                <Field
                  label={`${fineTuneNumbers[axis.parameter].label} values`}
                  error={problems[at]?.values}
                  help={`${boundsOf(axis.parameter)}, with commas between them.`}
                >
                  <Input
                    value={axis.values}
                    autoComplete="off"
                    spellCheck={false}
                    onChange={({ target }) =>
                      onChange(sweep.toSpliced(at, 1, { ...axis, values: target.value }))
                    }
                  />
                </Field>
              )}
            </div>
          );
        })}
      </div>
      <p role="status" className="mt-4 font-medium empty:hidden">
        {isComplete && `${countOf(count, 'run')}, each with a model.`}
      </p>
    </Disclosure>
  );
}

/** What it can be swept over, and what is chosen although it cannot any more. */
function optionsOf(
  training: Parameters<typeof sweptWith>[0],
  chosen: SweepParameter | undefined,
  others: SweepParameter[],
) {
  const offered = sweptWith(training).filter((one) => !others.includes(one));
  const all = chosen && !offered.includes(chosen) ? [...offered, chosen] : offered;
  return [
    { value: NONE, label: 'None' } as const,
    ...all.map((value) => ({ value, label: fineTuneNumbers[value].label })),
  ];
}

function boundsOf(parameter: SweepParameter): string {
  const { min, max, ...field } = fineTuneNumbers[parameter];
  const least = 'aboveMin' in field && field.aboveMin ? `Above ${min}, at most` : `${formatNumber(min)} to`;
  return `${least} ${formatNumber(max)}`;
}
