import {
  type Adaptation,
  adaptations,
  comparedFormats,
  fineTuneNumbers,
  KTO_BATCH_MIN,
  loraTargetModules,
  lrSchedulers,
  segmentationMethods,
} from '@bakehouse/contract/fine-tune-numbers';
import { type DataFormatName, type Objective, objectives } from '@bakehouse/contract/limits';
import { withMinus } from '../../../lib/format/format-number.ts';
import { Button } from '../../../ui/button.tsx';
import { CheckboxGroup } from '../../../ui/checkbox-group.tsx';
import type { FormField } from '../../../ui/form-fields.tsx';
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

const fullLearningRatePresets = {
  sft: [0.00005, 0.00002, 0.00001],
  dpo: [0.000001, 0.0000005],
  kto: [0.000001, 0.0000005],
  grpo: [0.000001, 0.0000005],
};

type Trained = Pick<TrainingParameters, 'objective' | 'adaptation'>;

/** Fields of every run. */
export const mainFields = (trained: Trained): ParameterField[] => [
  number('epochs', {
    help: '1 to 1,000 passes over all rows. More learns them better, and costs as much more.',
  }),
  number('learning_rate', {
    maxDecimals: 8,
    helpFor: (rate: number, onChange: (rate: number) => void) => learningRateHelp(rate, onChange, trained),
  }),
  number('batch_size', {
    help: `${trained.objective === 'kto' ? KTO_BATCH_MIN : 1} to 1,024 rows at once. More is faster and takes more memory.`,
  }),
  number('gradient_accumulation_steps', {
    help: '1 to 1,024 batches per training step. More calms training without more memory.',
  }),
  number('eval_batch_size', { help: '1 to 1,024 held-out rows at once. It changes time and memory alone.' }),
  number('train_test_split', {
    help: '0.1 to 0.95 of the rows are trained on; the rest measures the result.',
  }),
];

const objectiveHelp: Record<Objective, string> = {
  sft: 'Trains on the better answers. The worse ones are not used.',
  dpo: 'Makes each better answer more likely than the worse one.',
  kto: 'Makes good answers more likely and bad ones less likely, each row by itself.',
  grpo: 'Of several answers to a prompt, those with a higher reward become more likely.',
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

/** Objectives for such rows: learning the answers, or learning from the comparison. */
const objectiveOptions = (format: DataFormatName | null) =>
  objectives
    .filter(
      (value) => (value === 'sft' && format !== 'prompts') || (format && comparedFormats[value] === format),
    )
    .map((value) => ({ value, label: objectiveLabels[value] }));

const betaField = number('beta', {
  maxDecimals: 4,
  help: '0.001 to 10, usually 0.1. Higher keeps the model closer to its base.',
});

const dpoFields: ParameterField[] = [
  betaField,
  number('sft_weight', {
    maxDecimals: 3,
    help: '0 to 10, usually 0. Higher also trains on the better answers, so that they stay likely.',
  }),
];

const ktoFields: ParameterField[] = [
  betaField,
  number('desirable_weight', {
    maxDecimals: 3,
    help: 'Up to 100, usually 1. Higher where there are fewer good answers, so that both kinds count alike.',
  }),
  number('undesirable_weight', {
    maxDecimals: 3,
    help: 'Up to 100, usually 1. Higher where there are fewer bad answers.',
  }),
];

const grpoFields: ParameterField[] = [
  number('generations', {
    help: '2 to 64, usually 8. More tell better from worse more surely, and take as much longer.',
  }),
  number('max_new_tokens', {
    help: 'Up to 16,384, usually as long as a good answer. Longer answers are cut; the time grows with it.',
  }),
  number('temperature', {
    maxDecimals: 2,
    help: '0.1 to 2, usually 1. Higher makes answers differ more, so that there is something to choose from.',
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
  cosine: 'Cosine, down to 0',
  linear: 'Linear, down to 0',
  constant: 'Constant',
} satisfies Record<(typeof lrSchedulers)[number], string>;

/** Optimizer settings. */
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
    help: '0 to 1, usually 0 to 0.1. Holds what is trained small, against learning by heart.',
  }),
  number('max_grad_norm', {
    maxDecimals: 3,
    help: '0 to 1,000, usually 1. Longer gradients are shortened to it; 0 leaves them as they are.',
  }),
  // The other objectives compare answers, and noise would distort the comparison.
  ...(objective === 'sft' ? [neftuneField] : []),
];

const neftuneField = number('neftune_noise_alpha', {
  maxDecimals: 2,
  help: '0 to 100, usually 0 or 5. Noise on the embeddings, for answers that are longer and less learned by heart.',
});

/** Evaluation and early stopping. */
export const evaluationFields: ParameterField[] = [
  number('eval_steps', {
    help: 'Measures the held-out rows after so many steps too, up to 100,000. 0: after each epoch alone.',
  }),
  number('early_stopping_patience', {
    help: 'Ends once the held-out loss has not fallen in so many evaluations, up to 100. You pay until then. 0: never.',
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
    help: '1 to 131,072 tokens per example. Longer ones are split or cut; memory grows with it.',
  }),
  number('stride', { help: '1 to 131,072 tokens shared by neighbouring chunks, fewer than a chunk has.' }),
  number('min_segment_length', { help: '1 to 131,072 tokens. Shorter texts are dropped.' }),
  // The other objectives evaluate each answer separately.
  ...(objective === 'sft' ? [packingField] : []),
];

const packingField: ParameterField = {
  kind: 'flag',
  name: 'packing',
  label: 'Packing',
  box: 'Put short rows together',
  help: 'Fills sequences up to the chunk size; no row reads another. Makes fewer steps of more rows, which saves time on a GPU.',
};

const adaptationHelp: Record<Adaptation, string> = {
  lora: 'Trains a small adapter: less memory, a small file, and many of them share one server. Suits most runs.',
  qlora:
    'LoRA with the base in 4 bits while it trains: a third of the memory, and slower. Needs a GPU. The result is a LoRA adapter.',
  full: 'Trains every weight and makes a whole model: learns more from many rows, and needs five to nine times the memory.',
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
    help: '1 to 256, usually 8 to 64. Higher learns more, in a larger file and more memory.',
  }),
  number('lora_dropout', {
    label: 'Dropout',
    help: '0 to 0.5 of the adapter’s input is left out at each step, against learning by heart.',
  }),
  {
    kind: 'flag',
    name: 'use_rslora',
    label: 'Scaling',
    box: 'Rank-stabilized (rsLoRA)',
    help: 'Divides the adapter by the root of its rank instead of by the rank. Suits ranks of 64 and more.',
  },
  // DoRA is merged into the weights, which QLoRA doesn't support.
  ...(adaptation === 'lora' ? [doraField] : []),
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

const doraField: ParameterField = {
  kind: 'flag',
  name: 'use_dora',
  label: 'Magnitudes',
  box: 'Weight-decomposed (DoRA)',
  help: 'Trains how long each row of a matrix is by itself. Learns more at low ranks, takes two to three times as long, and makes a whole model.',
};

/** Returns a warning, or buttons with common values. */
function learningRateHelp(
  rate: number,
  onChange: (rate: number) => void,
  { objective, adaptation }: Trained,
) {
  const advice = learningRateAdvice(rate, objective, adaptation);
  if (advice) return advice;
  const presets = (adaptation === 'full' ? fullLearningRatePresets : learningRatePresets)[objective];
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
