import { createHash } from 'node:crypto';
import type { DataToRead } from '../validation/read-data.ts';

/** Counts up where files are read otherwise than before, so that no older reading answers. */
const READER = 4;

/** Of training alone: none of these changes the report. */
const OF_TRAINING = [
  'learning_rate',
  'lr_scheduler',
  'warmup_ratio',
  'weight_decay',
  'max_grad_norm',
  'neftune_noise_alpha',
  'eval_steps',
  'early_stopping_patience',
  'beta',
  'sft_weight',
  'desirable_weight',
  'undesirable_weight',
] as const satisfies readonly (keyof DataToRead['spec']['parameters'])[];

/**
 * Equal for inputs that are read alike. Alpha, dropout and what scales by them change nothing either; nor does the date, which a few chat
 * templates write into each example: that of another day is as long.
 */
export function nameData({ base, dataFile, validationFile, spec }: DataToRead): string {
  const lora = spec.parameters.lora && ofAdapter(spec.parameters.lora);
  const read = Object.entries(spec.parameters).filter(([name]) => !OF_TRAINING.some((one) => one === name));
  const { date, ...data } = spec.data;
  const named = {
    reader: READER,
    base,
    dataFile,
    validationFile,
    spec: { ...spec, data, parameters: { ...Object.fromEntries(read), lora } },
  };
  return createHash('sha256').update(JSON.stringify(named)).digest('hex');
}

function ofAdapter({
  alpha,
  dropout,
  use_rslora,
  ...lora
}: NonNullable<DataToRead['spec']['parameters']['lora']>) {
  return lora;
}
