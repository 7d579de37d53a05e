import * as z from 'zod';

/** Adapters that vLLM holds on a GPU concurrently, and the ranks it has kernels for. */
export const LORA_SLOTS = 4;
export const LORA_RANKS = [1, 8, 16, 32, 64, 128, 256, 320, 512];
/** The rank up to which every text server on a GPU can load adapters while it runs. */
export const LATE_LORA_RANK = 16;
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
 * Returns the bytes that vLLM reserves on all GPUs for LoRA adapters of this rank, whichever modules they
 * change. Every slot of each layer has an input and an output matrix. The side with the residual stream's
 * width is copied to each GPU; the other side is split among them. 0 if the base's config.json lacks the
 * sizes.
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
