import { pictureResolutions, pictureTrainingNumbers } from '@bakehouse/contract/diffusion-fields';
import { type GpuType, gpuLabels, gpuTypes } from '@bakehouse/contract/limits';
import { useEffect, useEffectEvent } from 'react';
import { Disclosure } from '../../../../ui/disclosure.tsx';
import { Field } from '../../../../ui/field.tsx';
import { type FormField, FormFields } from '../../../../ui/form-fields.tsx';
import { RadioCards } from '../../../../ui/radio-cards.tsx';
import { Select } from '../../../../ui/select.tsx';
import { Textarea } from '../../../../ui/textarea.tsx';
import { type PresetName, type Resolution, suggestedPrompts } from '../train-lora-state.ts';
import type { TrainLora } from '../use-train-lora.ts';

type Props = { wizard: Pick<TrainLora, 'state' | 'problems' | 'dispatch'> };
type NumberName = keyof typeof pictureTrainingNumbers;

const presets: { value: PresetName; label: string; description: string }[] = [
  {
    value: 'quick',
    label: 'Quick look',
    description: 'A few steps, to check that the pictures and captions work.',
  },
  { value: 'style', label: 'Style', description: 'How things are drawn, regardless of the subject.' },
  { value: 'subject', label: 'Subject', description: 'One person, animal or thing: more capacity.' },
];

const number = (
  name: NumberName,
  rest: { help?: string; maxDecimals?: number } = {},
): FormField<NumberName> => ({
  kind: 'number',
  name,
  ...pictureTrainingNumbers[name],
  ...rest,
});

const mainFields = [
  number('steps', { help: 'Training steps. Too many overfit and reproduce your pictures.' }),
  number('sample_every', { help: 'Draws the sample prompts after this many steps.' }),
];

const advancedFields = [
  number('learning_rate', { maxDecimals: 8 }),
  number('lora_r', { help: 'Size of the adapter.' }),
  number('batch_size', { help: 'Pictures per batch.' }),
  number('gradient_accumulation_steps', { help: 'Batches per training step.' }),
  number('caption_dropout', { help: 'Share of examples trained without their caption.' }),
];

/** Training settings and sample prompts. */
export function TrainingStep({ wizard: { state, problems, dispatch } }: Props) {
  const suggest = useEffectEvent(() => {
    if (state.prompts === '') dispatch({ do: 'change', values: { prompts: suggestedPrompts(state) } });
  });
  useEffect(() => suggest(), []);
  const shared = {
    values: state.numbers,
    problems,
    onChange: (values: Partial<typeof state.numbers>) => dispatch({ do: 'numbers', values }),
  };
  return (
    <div className="flex flex-col gap-6">
      <Field label="What do you want to train?">
        <RadioCards<PresetName>
          columns={3}
          value={state.preset ?? null}
          onChange={(preset) => dispatch({ do: 'preset', preset })}
          options={presets}
        />
      </Field>
      <FormFields fields={mainFields} {...shared} />
      <Field
        label="Sample prompts"
        aside="One per line"
        error={problems.prompts}
        help="Each checkpoint draws them with the same seeds, to show how the LoRA progresses."
      >
        <Textarea
          rows={4}
          value={state.prompts}
          onChange={(event) => dispatch({ do: 'change', values: { prompts: event.target.value } })}
        />
      </Field>
      {state.size === 'full' && (
        <div className="grid gap-5 sm:grid-cols-2">
          <Field label="GPU">
            <Select<GpuType>
              value={state.gpu}
              onChange={(gpu) => dispatch({ do: 'change', values: { gpu } })}
              options={gpuTypes.map((type) => ({ value: type, label: gpuLabels[type] }))}
            />
          </Field>
          <Field label="Resolution" help="Pictures keep their aspect ratio. Smaller is faster.">
            <Select<`${Resolution}`>
              value={`${state.resolution ?? 1024}`}
              onChange={(value) =>
                dispatch({ do: 'change', values: { resolution: Number(value) as Resolution } })
              }
              options={pictureResolutions.map((side) => ({
                value: `${side}` as const,
                label: `${side} x ${side}`,
              }))}
            />
          </Field>
        </div>
      )}
      <Disclosure title="Advanced" defaultOpen={state.preset === undefined}>
        <FormFields fields={advancedFields} {...shared} />
      </Disclosure>
    </div>
  );
}
