import * as z from 'zod';

/** Adapters that vLLM keeps on a GPU at once, where a server comes to carry so many, and the ranks that it has kernels for. */
export const LORA_SLOTS = 4;
export const LORA_RANKS = [1, 8, 16, 32, 64, 128, 256, 320, 512];
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
/** Models that also see pictures have what their text needs beside them. */
const config = z.union([shape, z.object({ text_config: shape }).transform((found) => found.text_config)]);

/**
 * The bytes that vLLM sets aside for LoRA adapters of this rank, whichever modules they change, on all GPUs together. Each layer has
 * a matrix for its inputs and one for its outputs in every slot. The side that is as wide as the residual stream is copied to each
 * GPU, the other one shared among them. 0 where the base's config.json does not have the sizes. Pure.
 */
export function loraSlotBytes(found: Record<string, unknown> | null, rank: number, gpuCount: number): number {
  const { data } = config.safeParse(found);
  if (!data) return 0;
  const { num_hidden_layers: layers, hidden_size: hidden, num_attention_heads: heads } = data;
  const width = data.head_dim ?? hidden / heads;
  const keys = (data.num_key_value_heads ?? heads) * width;
  // Of q, k, v, o, gate, up and down, and of lm_head.
  const copied = layers * 7 * hidden + hidden;
  const shared = layers * (2 * heads * width + 2 * keys + 3 * data.intermediate_size) + data.vocab_size;
  const kept = LORA_RANKS.find((allowed) => allowed >= rank) ?? rank;
  return LORA_SLOTS * kept * (copied * gpuCount + shared) * BYTES_PER_VALUE;
}
