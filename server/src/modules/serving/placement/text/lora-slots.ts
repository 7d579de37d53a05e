import * as z from 'zod';

/**
 * Number of adapters that vLLM holds on a GPU at the same time. `LORA_RANKS` are the ranks that its kernels
 * support.
 */
export const LORA_SLOTS = 4;
export const LORA_RANKS = [1, 8, 16, 32, 64, 128, 256, 320, 512];
/** Every text server on a GPU can load adapters up to this rank while it runs. */
export const LOADABLE_LORA_RANK = 16;
const BYTES_PER_VALUE = 2;

const count = z.int().positive();
const shape = z.object({
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  hidden_size: count,
  intermediate_size: count,
  head_dim: count.nullish(),
  vocab_size: count,
});
/** Models that also read images nest their text configuration. */
const config = z.union([shape, z.object({ text_config: shape }).transform((found) => found.text_config)]);

/**
 * Returns the bytes that vLLM reserves on all GPUs together for LoRA adapters of this rank. It reserves them
 * for every layer, whichever modules an adapter changes. Each slot has an input and an output matrix. The
 * matrix with the width of the residual stream is copied to each GPU; the other one is split among them.
 * Returns 0 if config.json lacks the sizes.
 */
export function loraSlotBytes(found: Record<string, unknown> | null, rank: number, gpuCount: number): number {
  const { data } = config.safeParse(found);
  if (!data) return 0;
  const { num_hidden_layers: layers, hidden_size: hidden, num_attention_heads: heads } = data;
  const width = data.head_dim ?? hidden / heads;
  const keys = (data.num_key_value_heads ?? heads) * width;
  // q, k, v, o, gate, up and down, and lm_head.
  const copied = layers * 7 * hidden + hidden;
  const shared = layers * (2 * heads * width + 2 * keys + 3 * data.intermediate_size) + data.vocab_size;
  const kept = LORA_RANKS.find((allowed) => allowed >= rank) ?? rank;
  return LORA_SLOTS * kept * (copied * gpuCount + shared) * BYTES_PER_VALUE;
}
