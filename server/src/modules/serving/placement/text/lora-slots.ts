import * as z from 'zod';

/** Adapters that vLLM keeps on a GPU at once, and the ranks that it has kernels for (the runtime's serve/vllm.py). */
const SLOTS = 4;
const RANKS = [1, 8, 16, 32, 64, 128, 256, 320, 512];
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
 * The bytes that vLLM sets aside for LoRA adapters of this rank, whichever modules they change, on all GPUs together: each layer
 * has two matrices for its inputs and outputs in every slot, of which one is shared among the GPUs and the other copied. 0 where
 * the base's config.json does not have the sizes. Pure.
 */
export function loraSlotBytes(found: Record<string, unknown> | null, rank: number, gpuCount: number): number {
  const { data } = config.safeParse(found);
  if (!data) return 0;
  const { hidden_size: hidden, intermediate_size: inner, num_attention_heads: heads } = data;
  const width = data.head_dim ?? hidden / heads;
  const queries = hidden + heads * width;
  const keys = hidden + (data.num_key_value_heads ?? heads) * width;
  const eachLayer = 2 * queries + 2 * keys + 3 * (hidden + inner);
  const values = data.num_hidden_layers * eachLayer + hidden + data.vocab_size;
  const kept = RANKS.find((allowed) => allowed >= rank) ?? rank;
  return (SLOTS * kept * values * BYTES_PER_VALUE * (1 + gpuCount)) / 2;
}
