import { gpuCounts } from '@bakehouse/contract/limits';
import * as z from 'zod';
import type { Context } from '../../../../platform/context.ts';
import { refused } from '../../../../platform/errors.ts';
import { readModelJson } from '../../../models/weights/read-model-json.ts';
import { type ServedModel, storedFiles } from '../../served-model.ts';

const count = z.int().positive();
const heads = z.object({ num_attention_heads: count, num_key_value_heads: count.nullish() });
/** Models that also see pictures have those of their text beside them. */
const config = z.union([heads, z.object({ text_config: heads }).transform((found) => found.text_config)]);

/**
 * Refuses a number of GPUs among which vLLM cannot share a model's attention heads equally: it would say so only after its start.
 * What the model's configuration does not tell is left to vLLM. Throws AppError 'invalid_request' with the numbers that fit.
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

/** Heads for keys and values are shared too, or each copied to as many GPUs. */
function isEven(
  { num_attention_heads: all, num_key_value_heads: keys }: z.infer<typeof heads>,
  gpus: number,
): boolean {
  const shared = keys ?? all;
  return all % gpus === 0 && (shared % gpus === 0 || gpus % shared === 0);
}
