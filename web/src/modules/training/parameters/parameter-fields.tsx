import {
  fineTuneNumbers,
  loraTargetModules,
  lrSchedulers,
  segmentationMethods,
} from '@bakehouse/contract/fine-tune-numbers';
import { type Objective, objectives } from '@bakehouse/contract/limits';
import { Button } from '../../../ui/button.tsx';
import { CheckboxGroup } from '../../../ui/checkbox-group.tsx';
import type { FormField } from '../../../ui/form-fields.tsx';
import { Select } from '../../../ui/select.tsx';
import { objectiveLabels } from './format-labels.ts';
import { learningRateAdvice, type TrainingParameters } from './training-parameters.ts';

type ParameterField = FormField<keyof TrainingParameters>;

const number = (
  name: keyof typeof fineTuneNumbers,
  rest: Pick<ParameterField, 'help' | 'helpFor'> & { label?: string; maxDecimals?: number } = {},
): ParameterField => ({ kind: 'number', name, ...fineTuneNumbers[name], ...rest });

const learningRatePresets = { sft: [0.001, 0.0002, 0.00005], dpo: [0.0002, 0.00005] };

/** What every run is asked for. */
export const mainFields = (objective: Objective): ParameterField[] => [
  number('epochs', { help: 'How many times the model sees every row.' }),
  number('learning_rate', {
    maxDecimals: 8,
    helpFor: (rate: number, onChange: (rate: number) => void) => learningRateHelp(rate, onChange, objective),
  }),
  number('batch_size'),
  number('gradient_accumulation_steps', { help: 'Batches per training step.' }),
  number('eval_batch_size'),
  number('train_test_split', { help: 'Share used for training; the rest measures the result.' }),
];

const objectiveHelp: Record<Objective, string> = {
  sft: 'Trains on the better answers. The worse ones are not used.',
  dpo: 'Makes each better answer more likely than the worse one.',
};

/** What preferences are trained for. */
export const objectiveFields = (objective: Objective): ParameterField[] => [
  {
    kind: 'control',
    name: 'objective',
    label: 'Objective',
    help: objectiveHelp[objective],
    isWide: true,
    control: (value: Objective, onChange) => (
      <Select value={value} onChange={onChange} options={objectiveOptions} />
    ),
  },
  ...(objective === 'dpo' ? dpoFields : []),
];

const objectiveOptions = objectives.map((value) => ({ value, label: objectiveLabels[value] }));

const dpoFields: ParameterField[] = [
  number('beta', {
    maxDecimals: 4,
    help: '0.001 to 10, usually 0.1. Higher keeps the model closer to its base.',
  }),
  number('sft_weight', {
    maxDecimals: 3,
    help: '0 to 10, usually 0. Higher also trains on the better answers, so that they stay likely.',
  }),
];

const schedulerLabels = {
  cosine: 'Cosine, down to 0',
  linear: 'Linear, down to 0',
  constant: 'Constant',
} satisfies Record<(typeof lrSchedulers)[number], string>;

/** How each step goes. */
export const optimizerFields = (objective: Objective): ParameterField[] => [
  {
    kind: 'choice',
    name: 'lr_scheduler',
    label: 'Schedule',
    help: 'How the learning rate goes on after the warm-up.',
    options: lrSchedulers.map((value) => ({ value, label: schedulerLabels[value] })),
  },
  number('warmup_ratio', {
    maxDecimals: 3,
    help: 'Share of the steps, 0 to 0.5, in which the learning rate rises from 0. More calms the start.',
  }),
  number('weight_decay', {
    maxDecimals: 4,
    help: '0 to 1, usually 0 to 0.1. Holds the adapter’s weights small, against learning by heart.',
  }),
  number('max_grad_norm', {
    maxDecimals: 3,
    help: '0 to 1,000, usually 1. Longer gradients are shortened to it; 0 leaves them as they are.',
  }),
  // DPO compares with the base, which would be read with other noise.
  ...(objective === 'sft' ? [neftuneField] : []),
];

const neftuneField = number('neftune_noise_alpha', {
  maxDecimals: 2,
  help: '0 to 100, usually 0 or 5. Noise on the embeddings, for answers that are longer and less learned by heart.',
});

/** When it is measured, and what ends it by that. */
export const evaluationFields: ParameterField[] = [
  number('eval_steps', {
    help: 'Measures the held-out rows after so many steps too, up to 100,000. 0: after each epoch alone.',
  }),
  number('early_stopping_patience', {
    help: 'Ends once the held-out loss has not fallen in so many evaluations, up to 100. You pay until then. 0: never.',
  }),
];

export const segmentationFields: ParameterField[] = [
  {
    kind: 'choice',
    name: 'segmentation_method',
    label: 'Method',
    help: 'How a long text is split into sentences.',
    options: segmentationMethods.map((method) => ({ value: method, label: method })),
  },
  number('max_chunk_size', { help: 'At most this many tokens per example.' }),
  number('stride', { help: 'Tokens shared by neighbouring chunks.' }),
  number('min_segment_length', { help: 'Shorter texts are dropped.' }),
];

/** Their panel is called LoRA, which need not be said again. */
export const loraFields: ParameterField[] = [
  number('lora_r', { label: 'Rank', help: 'Size of the adapter.' }),
  number('lora_dropout', { label: 'Dropout' }),
  {
    kind: 'flag',
    name: 'use_rslora',
    label: 'Scaling',
    box: 'Rank-stabilized (rsLoRA)',
    help: 'Divides the adapter by the root of its rank instead of by the rank. Suits ranks of 64 and more.',
  },
  {
    kind: 'control',
    name: 'lora_target_modules',
    label: 'Target modules',
    isWide: true,
    control: (modules: string[], onChange) => (
      <CheckboxGroup
        value={modules}
        onChange={onChange}
        options={loraTargetModules.map((module) => ({
          value: module,
          label: <code className="font-mono text-[0.8125rem]">{module}</code>,
        }))}
        className="grid grid-cols-2 gap-2 sm:grid-cols-4"
      />
    ),
  },
];

/** A word of warning, or else common values to choose. */
function learningRateHelp(rate: number, onChange: (rate: number) => void, objective: Objective) {
  const advice = learningRateAdvice(rate, objective);
  if (advice) return advice;
  return (
    <span className="flex flex-wrap items-center gap-1">
      Common values:
      {learningRatePresets[objective].map((preset) => (
        <Button key={preset} size="sm" variant="ghost" className="-mx-0.5" onClick={() => onChange(preset)}>
          {preset}
        </Button>
      ))}
    </span>
  );
}
