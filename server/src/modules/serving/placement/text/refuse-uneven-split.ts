import { gpuCounts } from '@bakehouse/contract/limits';
import * as z from 'zod';
import type { Context } from '../../../../platform/context.ts';
import { refused } from '../../../../platform/errors.ts';
import { readModelJson } from '../../../models/weights/read-model-json.ts';
import { type ServedModel, storedFiles } from '../../served-model.ts';

const count = z.int().positive();
const heads = z.object({ num_attention_heads: count, num_key_value_heads: count.nullish() });
/** Models that also read images nest the heads of their text model. */
const config = z.union([heads, z.object({ text_config: heads }).transform((found) => found.text_config)]);

/**
 * Throws AppError 'invalid_request' with the allowed numbers if vLLM cannot split the model's attention heads
 * evenly among the GPUs. vLLM itself reports this only after its start. Passes if the configuration is
 * unknown.
 */
export async function refuseUnevenSplit(
  ctx: Context,
  { base, baseTitle }: ServedModel,
  gpuCount: number,
): Promise<void> {
  if (gpuCount === 1) return;
  const { data } = config.safeParse(await readModelJson(ctx, storedFiles(base), 'config.json'));
  if (!data) return;
  const fitting = gpuCounts.filter((gpus) => isEven(data, gpus));
  if (fitting.some((gpus) => gpus === gpuCount)) return;
  const counts = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(fitting.map(String));
  throw refused(
    'gpu_count',
    `gpu_count must be ${counts}: ${gpuCount} GPUs cannot share the attention heads of ${baseTitle} equally`,
  );
}

/** Key-value heads must also split evenly, or each be copied to the same number of GPUs. */
function isEven(
  { num_attention_heads: all, num_key_value_heads: keys }: z.infer<typeof heads>,
  gpus: number,
): boolean {
  const shared = keys ?? all;
  return all % gpus === 0 && (shared % gpus === 0 || gpus % shared === 0);
}
