import { exportFormatLabels } from '@bakehouse/contract/exports';
import { defaultObjective } from '@bakehouse/contract/fine-tune-numbers';
import type { ExportRun, PicturesRun, TextRun } from '@bakehouse/contract/runs';
import { withMinus } from '../../../lib/format/format-number.ts';
import { deviceName } from '../../machines/devices.ts';
import { adaptationLabels, formatLabels, objectiveLabels } from '../parameters/format-labels.ts';
import { describeReward } from '../parameters/rewards/reward-draft.ts';
import { isTextFile } from '../parameters/training-parameters.ts';

/**
 * Returns a run's parameters as rows. Shows where the run ran, not the requested GPU. Omits segmentation
 * unless the rows are plain text, and target modules for a full fine-tune.
 */
export function describeParameters(run: Described): { name: string; value: string }[] {
  return [{ name: 'Runs on', value: deviceName(run.device) }, ...rowsOf(run)];
}

function rowsOf(run: Described): { name: string; value: string }[] {
  if (run.kind === 'export') return [{ name: 'Format', value: exportFormatLabels[run.parameters.format] }];
  return run.kind === 'text' ? textRows(run) : pictureRows(run);
}

type Described =
  | (Pick<TextRun, 'kind' | 'device' | 'parameters' | 'summary'> & {
      dataset: Pick<TextRun['dataset'], 'file_name'>;
      validation?: TextRun['validation'];
    })
  | Pick<PicturesRun, 'kind' | 'device' | 'parameters'>
  | Pick<ExportRun, 'kind' | 'device' | 'parameters'>;

/** The samples show the prompts. */
function pictureRows({ parameters }: Pick<PicturesRun, 'parameters'>): { name: string; value: string }[] {
  const { sample_prompts: _prompts, sample_every, ...rest } = parameters;
  const rows = Object.entries({ ...rest, steps_between_samples: sample_every });
  return rows.flatMap(([name, value]) =>
    value == null ? [] : [{ name: label(name), value: textOf(value) }],
  );
}

function textRows(run: Extract<Described, { kind: 'text' }>): { name: string; value: string }[] {
  const {
    model_name: _name,
    accelerator_type: _type,
    accelerator_count: _count,
    lora_target_modules: modules,
    data_format: format,
    objective,
    beta,
    sft_weight,
    desirable_weight,
    undesirable_weight,
    generations,
    max_new_tokens,
    temperature,
    rewards,
    neftune_noise_alpha,
    segmentation_method,
    stride,
    min_segment_length,
    train_test_split,
    use_rslora,
    use_dora,
    packing,
    adaptation,
    ...rest
  } = run.parameters;
  const isText = format === 'text' || isTextFile(run.dataset.file_name);
  const rows = Object.entries({
    ...(format && { data_format: formatLabels[format] }),
    ...(defaultObjective(format) !== 'sft' && { objective: objectiveLabels[objective] }),
    ...{
      sft: { neftune_noise_alpha },
      dpo: { beta, sft_weight },
      kto: { beta, desirable_weight, undesirable_weight },
      grpo: {
        rewards: rewards.map(describeReward).join(', '),
        ...{ beta, generations, max_new_tokens, temperature },
      },
      // Only in older runs.
      reward: {},
    }[objective],
    ...rest,
    // A validation file replaces the split.
    ...(!run.validation && { train_test_split }),
    ...(isText && { segmentation_method, stride, min_segment_length }),
    ...(packing && { packing: 'Short rows share a sequence' }),
    ...(use_rslora && { scaling: 'Rank-stabilized (rsLoRA)' }),
    ...(use_dora && { magnitudes: 'Weight-decomposed (DoRA)' }),
    ...(adaptation !== 'lora' && { adaptation: adaptationLabels[adaptation] }),
    ...(adaptation !== 'full' && {
      lora_target_modules: run.summary?.target_modules ?? modules.join(', '),
    }),
  });
  return (
    rows
      // These columns are set only for preferences or feedback.
      .filter(([name, value]) => !['rejected_column', 'label_column'].includes(name) || value)
      .map(([name, value]) => ({ name: label(name), value: textOf(value) }))
  );
}

function textOf(value: string | number | boolean | null | undefined): string {
  // `withMinus` is for very small rates, which have a negative exponent.
  return typeof value === 'number' ? withMinus(value) : String(value ?? '') || '–';
}

const wizardWords: Record<string, string> = {
  train_test_split: 'Train/test split',
  gradient_accumulation_steps: 'Gradient accumulation',
  sft_weight: 'SFT weight',
  desirable_weight: 'Weight of good answers',
  undesirable_weight: 'Weight of bad answers',
  generations: 'Answers per prompt',
  max_new_tokens: 'Max answer tokens',
  lr_scheduler: 'Schedule',
  warmup_ratio: 'Warm-up',
  max_grad_norm: 'Max gradient norm',
  neftune_noise_alpha: 'NEFTune noise',
  eval_steps: 'Steps between evaluations',
  lora_r: 'LoRA rank',
  lora_alpha: 'LoRA alpha',
};

/** Returns the field's label in the wizard: 'learning_rate' -> 'Learning rate'. */
function label(name: string): string {
  const own = wizardWords[name];
  if (own) return own;
  const words = name.replaceAll('_', ' ').replace('lora', 'LoRA');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
