import { createHash } from 'node:crypto';
import type { DataToRead } from '../validation/read-data.ts';

/** Counts up where files are read otherwise than before, so that no older reading answers. */
const READER = 2;

/**
 * Equal for inputs that are read alike: nothing of the optimiser, neither alpha, dropout, beta nor the weight of SFT changes the report; nor does the
 * date, which a few chat templates write into each example: that of another day is as long.
 */
export function nameData({ base, dataFile, validationFile, spec }: DataToRead): string {
  const { learning_rate, lr_scheduler, warmup_ratio, weight_decay, max_grad_norm, ...noted } =
    spec.parameters;
  const { neftune_noise_alpha, beta, sft_weight, lora, ...parameters } = noted;
  const { alpha, dropout, ...adapter } = lora;
  const { date, ...data } = spec.data;
  const read = {
    reader: READER,
    base,
    dataFile,
    validationFile,
    spec: { ...spec, data, parameters: { ...parameters, lora: adapter } },
  };
  return createHash('sha256').update(JSON.stringify(read)).digest('hex');
}
