import { createHash } from 'node:crypto';
import type { DataToRead } from '../validation/read-data.ts';

/** Increment when files are read differently, to invalidate stored reports. */
const READER = 4;

/** Parameters that affect only training, not the report. */
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
 * Returns a name that is equal for inputs with the same report. Alpha, dropout and scaling do not matter, nor
 * does the date, which some chat templates write into each example with constant length.
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
