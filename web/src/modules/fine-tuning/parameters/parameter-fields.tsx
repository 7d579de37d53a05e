import {
  type Adaptation,
  ALL_LINEAR,
  adaptations,
  comparedFormats,
  fineTuneNumbers,
  KTO_BATCH_MIN,
  loraTargetModules,
  lrSchedulers,
  optimizers,
  segmentationMethods,
} from '@bakehouse/contract/fine-tune-numbers';
import { type DataFormatName, type Objective, objectives } from '@bakehouse/contract/limits';
import { useState } from 'react';
import { withMinus } from '../../../lib/format/format-number.ts';
import { Button } from '../../../ui/button.tsx';
import { CheckboxGroup } from '../../../ui/checkbox-group.tsx';
import { Field } from '../../../ui/field.tsx';
import type { FormField } from '../../../ui/form-fields.tsx';
import { Input } from '../../../ui/input.tsx';
import { Select } from '../../../ui/select.tsx';
import { adaptationLabels, objectiveLabels } from './format-labels.ts';
import { learningRateAdvice, type TrainingParameters } from './training-parameters.ts';

type ParameterField = FormField<keyof TrainingParameters>;

const number = (
  name: keyof typeof fineTuneNumbers,
  rest: Pick<ParameterField, 'help' | 'helpFor'> & { label?: string; maxDecimals?: number } = {},
): ParameterField => ({ kind: 'number', name, ...fineTuneNumbers[name], ...rest });

const learningRatePresets = {
  sft: [0.001, 0.0002, 0.00005],
  dpo: [0.0002, 0.00005],
  kto: [0.0002, 0.0001],
  grpo: [0.0002, 0.0001, 0.00001],
};

const fullLearningRatePresets = { sft: [0.00005, 0.00002, 0.00001], other: [0.000001, 0.0000005] };

type Trained = Pick<TrainingParameters, 'objective' | 'adaptation'>;

/** Fields of every run. */
export const mainFields = (trained: Trained): ParameterField[] => [
  number('epochs', {
    help: '1 to 1,000 passes over all rows. More epochs fit the data more closely and cost proportionally more.',
  }),
  number('learning_rate', {
    maxDecimals: 8,
    helpFor: (rate: number, onChange: (rate: number) => void) => learningRateHelp(rate, onChange, trained),
  }),
  number('batch_size', {
    help: `${trained.objective === 'kto' ? KTO_BATCH_MIN : 1} to 1,024 rows per batch. Larger batches are faster but use more memory.`,
  }),
  number('gradient_accumulation_steps', {
    help: '1 to 1,024 batches per training step. Larger values make training more stable without extra memory.',
  }),
  number('eval_batch_size', {
    help: '1 to 1,024 held-out rows per batch. Affects speed and memory only, not results.',
  }),
  number('train_test_split', {
    help: '0.1 to 0.95 of the rows are used for training; the rest measures the result.',
  }),
];

const objectiveHelp: Record<Objective, string> = {
  sft: 'Trains on the better answers. The worse ones are not used.',
  dpo: 'Makes each better answer more likely than the worse one.',
  kto: 'Makes good answers more likely and bad answers less likely. Needs no pairs.',
  grpo: 'Samples several answers per prompt and makes those with higher rewards more likely.',
};

/** Objective and its settings for compared or rated answers. */
export const objectiveFields = (objective: Objective, format: DataFormatName | null): ParameterField[] => [
  {
    kind: 'control',
    name: 'objective',
    label: 'Objective',
    help:
      objective === 'sft' && format === 'feedback'
        ? 'Trains on the good answers. The bad ones are not used.'
        : objectiveHelp[objective],
    isWide: true,
    control: (value: Objective, onChange) => (
      <Select value={value} onChange={onChange} options={objectiveOptions(format)} />
    ),
  },
  ...fieldsOf[objective],
];

/** Options for rows of this format: learn the answers, or learn from comparing or rating them. */
const objectiveOptions = (format: DataFormatName | null) =>
  objectives
    .filter(
      (value) => (value === 'sft' && format !== 'prompts') || (format && comparedFormats[value] === format),
    )
    .map((value) => ({ value, label: objectiveLabels[value] }));

const betaField = number('beta', {
  maxDecimals: 4,
  help: '0.001 to 10, usually 0.1. Higher values keep the model closer to its base.',
});

const dpoFields: ParameterField[] = [
  betaField,
  number('sft_weight', {
    maxDecimals: 3,
    help: '0 to 10, usually 0. Higher values also train on the better answers, which keeps them likely.',
  }),
];

const ktoFields: ParameterField[] = [
  betaField,
  number('desirable_weight', {
    maxDecimals: 3,
    help: 'Up to 100, usually 1. Increase it if there are fewer good answers, to balance both kinds.',
  }),
  number('undesirable_weight', {
    maxDecimals: 3,
    help: 'Up to 100, usually 1. Increase it if there are fewer bad answers.',
  }),
];

const grpoFields: ParameterField[] = [
  number('generations', {
    help: '2 to 64, usually 8. More samples give a clearer signal but take longer.',
  }),
  number('max_new_tokens', {
    help: 'Up to 16,384, usually the length of a good answer. Longer answers are cut off. Higher values take longer.',
  }),
  number('temperature', {
    maxDecimals: 2,
    help: '0.1 to 2, usually 1. Higher values make answers more varied, so that there are differences to learn from.',
  }),
  betaField,
];

const fieldsOf: Record<Objective, ParameterField[]> = {
  sft: [],
  dpo: dpoFields,
  kto: ktoFields,
  grpo: grpoFields,
};

const schedulerLabels = {
  cosine: 'Cosine decay to 0',
  linear: 'Linear decay to 0',
  constant: 'Constant',
} satisfies Record<(typeof lrSchedulers)[number], string>;

/** Optimizer settings. */
export const optimizerFields = (objective: Objective): ParameterField[] => [
  {
    kind: 'choice',
    name: 'optimizer',
    label: 'Optimizer',
    help: '8-bit AdamW needs a GPU. It saves a third of the memory of a full fine-tune, and little with LoRA.',
    options: optimizers.map((value) => ({ value, label: value === 'adamw' ? 'AdamW' : '8-bit AdamW' })),
  },
  {
    kind: 'choice',
    name: 'lr_scheduler',
    label: 'Schedule',
    help: 'How the learning rate changes after the warm-up.',
    options: lrSchedulers.map((value) => ({ value, label: schedulerLabels[value] })),
  },
  number('warmup_ratio', {
    maxDecimals: 3,
    help: 'Share of the steps, 0 to 0.5, in which the learning rate rises from 0. A longer warm-up makes early training more stable.',
  }),
  number('weight_decay', {
    maxDecimals: 4,
    help: '0 to 1, usually 0 to 0.1. Keeps the trained weights small to reduce overfitting.',
  }),
  number('max_grad_norm', {
    maxDecimals: 3,
    help: '0 to 1,000, usually 1. Clips gradients above this norm. 0 disables clipping.',
  }),
  // The other objectives compare answers, and noise would distort the comparison.
  ...(objective === 'sft' ? [neftuneField] : []),
];

const neftuneField = number('neftune_noise_alpha', {
  maxDecimals: 2,
  help: '0 to 100, usually 0 or 5. Adds noise to the embeddings, for longer answers and less overfitting.',
});

/** Evaluation and early stopping. */
export const evaluationFields: ParameterField[] = [
  number('eval_steps', {
    help: 'Also measures the held-out rows after this many steps, up to 100,000. 0 measures only at the end of each epoch.',
  }),
  number('early_stopping_patience', {
    help: 'Stops once the held-out loss has not fallen in this many evaluations, up to 100. You pay until then. 0 never stops early.',
  }),
];

/** How rows are split into sequences. */
export const segmentationFields = (objective: Objective): ParameterField[] => [
  {
    kind: 'choice',
    name: 'segmentation_method',
    label: 'Method',
    help: 'How a long text is split into sentences.',
    options: segmentationMethods.map((method) => ({ value: method, label: method })),
  },
  number('max_chunk_size', {
    help: '1 to 131,072 tokens per example. Longer texts are split or cut off. Higher values use more memory.',
  }),
  number('stride', {
    help: '1 to 131,072 tokens shared by neighboring chunks. Must be less than the chunk size.',
  }),
  number('min_segment_length', { help: '1 to 131,072 tokens. Shorter texts are dropped.' }),
  // The other objectives evaluate each answer separately.
  ...(objective === 'sft' ? [packingField] : []),
];

const packingField: ParameterField = {
  kind: 'flag',
  name: 'packing',
  label: 'Packing',
  box: 'Pack short rows',
  help: 'Combines rows into sequences up to the chunk size; rows cannot see each other. Takes fewer steps, which saves time on a GPU.',
};

const adaptationHelp: Record<Adaptation, string> = {
  lora: 'Trains a small adapter: less memory, a small file, and many adapters can share one server. Best for most runs.',
  qlora:
    'LoRA with the base model in 4 bits during training: a third of the memory, but slower. Needs a GPU. The result is a LoRA adapter.',
  full: 'Trains every weight and makes a whole model: learns more from many rows, but needs five to nine times the memory.',
};

/** Which parts of the base model are trained. */
export const adaptationFields: ParameterField[] = [
  {
    kind: 'control',
    name: 'adaptation',
    label: 'Adaptation',
    isWide: true,
    helpFor: (adaptation: Adaptation) => adaptationHelp[adaptation],
    control: (value: Adaptation, onChange) => (
      <Select
        value={value}
        onChange={onChange}
        options={adaptations.map((one) => ({ value: one, label: adaptationLabels[one] }))}
      />
    ),
  },
];

/** Labels omit 'LoRA', which is the panel's title. */
export const loraFields = ({ adaptation }: Pick<Trained, 'adaptation'>): ParameterField[] => [
  number('lora_r', {
    label: 'Rank',
    help: '1 to 256, usually 8 to 64. Higher ranks learn more but need a larger file and more memory.',
  }),
  number('lora_dropout', {
    label: 'Dropout',
    help: '0 to 0.5 of the adapter’s input is dropped at each step, to reduce overfitting.',
  }),
  {
    kind: 'flag',
    name: 'use_rslora',
    label: 'Scaling',
    box: 'Rank-stabilized (rsLoRA)',
    help: 'Divides the adapter by the square root of its rank instead of by its rank. Best for ranks of 64 and above.',
  },
  // DoRA is merged into the weights, which QLoRA doesn't support.
  ...(adaptation === 'lora' ? [doraField] : []),
  {
    kind: 'control',
    name: 'lora_target_modules',
    label: 'Target modules',
    isWide: true,
    help: 'all-linear trains every linear module of the layers, in any model family.',
    control: (modules: string[], onChange) => <TargetModules value={modules} onChange={onChange} />,
  },
];

const offered: readonly string[] = [...loraTargetModules, ALL_LINEAR];

/** Chooses the usual modules and further names, or instead all linear modules. */
export function TargetModules({ value, onChange }: { value: string[]; onChange: (to: string[]) => void }) {
  const [typed, setTyped] = useState('');
  const usual = value.filter((name) => offered.includes(name));
  const others = value.filter((name) => !offered.includes(name));
  const withoutAll = (names: string[]) => names.filter((name) => name !== ALL_LINEAR);
  // Discard the typed text if a preset or a configuration has changed the value.
  const text = String(namesIn(typed)) === String(others) ? typed : others.join(', ');
  const type = (next: string) => {
    setTyped(next);
    onChange([...(namesIn(next).length > 0 ? withoutAll(usual) : usual), ...namesIn(next)]);
  };
  const checkTypedBoxes = () => {
    const boxes = offered.filter((name) => typed.split(/[,\s]+/).includes(name) && !usual.includes(name));
    if (boxes.length === 0) return;
    setTyped(others.join(', '));
    onChange(boxes.includes(ALL_LINEAR) ? [ALL_LINEAR] : [...withoutAll(usual), ...boxes, ...others]);
  };
  return (
    <>
      <CheckboxGroup
        value={usual}
        onChange={(chosen) => {
          const isAll = chosen.includes(ALL_LINEAR) && !usual.includes(ALL_LINEAR);
          onChange(isAll ? [ALL_LINEAR] : [...withoutAll(chosen), ...others]);
        }}
        options={offered.map((module) => ({
          value: module,
          label: <code className="font-mono text-compact">{module}</code>,
        }))}
        className="mb-3 grid grid-cols-2 gap-2 sm:grid-cols-4"
      />
      <Field label="Other modules" help="Names of linear modules, separated by commas.">
        <Input
          value={text}
          placeholder="qkv_proj, gate_up_proj"
          onChange={({ target }) => type(target.value)}
          onBlur={checkTypedBoxes}
        />
      </Field>
    </>
  );
}

function namesIn(text: string): string[] {
  return [...new Set(text.split(/[,\s]+/))].filter((name) => name !== '' && !offered.includes(name));
}

const doraField: ParameterField = {
  kind: 'flag',
  name: 'use_dora',
  label: 'Magnitudes',
  box: 'Weight-decomposed (DoRA)',
  help: 'Trains weight magnitudes separately. Learns more at low ranks, takes two to three times as long, and makes a whole model.',
};

/** Returns a warning about an unusual rate, otherwise buttons with common rates. */
function learningRateHelp(
  rate: number,
  onChange: (rate: number) => void,
  { objective, adaptation }: Trained,
) {
  const advice = learningRateAdvice(rate, objective, adaptation);
  if (advice) return advice;
  const ofFull = fullLearningRatePresets[objective === 'sft' ? 'sft' : 'other'];
  const presets = adaptation === 'full' ? ofFull : learningRatePresets[objective];
  return (
    <span className="flex flex-wrap items-center gap-1">
      Above 0, up to 1. Common values:
      {presets.map((preset) => (
        <Button key={preset} size="sm" variant="ghost" className="-mx-0.5" onClick={() => onChange(preset)}>
          {withMinus(preset)}
        </Button>
      ))}
    </span>
  );
}
