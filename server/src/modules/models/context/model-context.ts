import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { findGgufs, readGgufHead, readModelJson } from '../weights/model-files.ts';

/** The context of a model that cannot be read from its files. */
const unknownContext: ModelContext = { positions: null, layers: [] };

const BYTES_PER_VALUE = 2;
const count = z.int().positive();

const shape = z.object({
  max_position_embeddings: count.nullish().catch(null),
  num_hidden_layers: count,
  num_attention_heads: count,
  num_key_value_heads: count.nullish(),
  hidden_size: count,
  head_dim: count.nullish(),
  /** Attention type of each layer. */
  layer_types: z.array(z.string()).nullish().catch(null),
  sliding_window: count.nullish().catch(null),
  use_sliding_window: z.boolean().nullish().catch(null),
  /**
   * With multi-head latent attention, the cache has these instead of keys and values:
   * https://arxiv.org/abs/2405.04434
   */
  kv_lora_rank: count.nullish().catch(null),
  qk_rope_head_dim: count.nullish().catch(null),
});

/** Models that also read images nest their text configuration. */
const config = z.union([shape, z.object({ text_config: shape }).transform((found) => found.text_config)]);

/** llama.cpp stores keys and values in 16 bits. */
const GGUF_CONTEXT_BYTES_PER_VALUE = 2;

/**
 * Returns the context that a config.json of Transformers describes. vLLM caches it with 16 bits per value.
 */
export function readConfigContext(found: Record<string, unknown> | null): ModelContext {
  const { data } = config.safeParse(found);
  if (!data) return { ...unknownContext, positions: positionsOf(found) };
  const positions = data.max_position_embeddings ?? null;
  const all = data.num_hidden_layers;
  if (data.kv_lora_rank)
    return {
      positions,
      layers: [
        {
          bytesPerToken: all * (data.kv_lora_rank + (data.qk_rope_head_dim ?? 0)) * BYTES_PER_VALUE,
          window: null,
        },
      ],
    };
  const heads = data.num_key_value_heads ?? data.num_attention_heads;
  const width = data.head_dim ?? data.hidden_size / data.num_attention_heads;
  const bytesOf = (layers: number) => layers * 2 * heads * width * BYTES_PER_VALUE;
  const { full, sliding } = countLayers(data);
  return {
    positions,
    layers: [
      { bytesPerToken: bytesOf(full), window: null },
      { bytesPerToken: bytesOf(sliding), window: data.sliding_window ?? null },
    ],
  };
}

/** Layers of other types, such as `linear_attention`, cache nothing per token. */
function countLayers({
  layer_types: types,
  num_hidden_layers: all,
  sliding_window: window,
  use_sliding_window: used,
}: z.output<typeof shape>): { full: number; sliding: number } {
  if (types) {
    const named = (name: string) => types.filter((type) => type === name).length;
    return { full: named('full_attention'), sliding: named('sliding_attention') };
  }
  return window && used !== false ? { full: 0, sliding: all } : { full: all, sliding: 0 };
}

function positionsOf(found: Record<string, unknown> | null): number | null {
  return count.safeParse(found?.max_position_embeddings).data ?? null;
}

/**
 * Returns the context described by a GGUF's metadata numbers
 * (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
 */
export function readGgufContext(numbers: ReadonlyMap<string, number>): ModelContext {
  const find = (name: string) => {
    const key = [...numbers.keys()].find((one) => one.endsWith(`.${name}`));
    return key === undefined ? null : (numbers.get(key) ?? null);
  };
  const positions = find('context_length');
  const [layers, heads, width] = [
    find('block_count'),
    find('attention.head_count'),
    find('embedding_length'),
  ];
  if (!layers || !heads || !width) return { ...unknownContext, positions };
  const kept = find('attention.head_count_kv') ?? heads;
  const keys = find('attention.key_length') ?? width / heads;
  const values = find('attention.value_length') ?? width / heads;
  const bytesPerToken = layers * kept * (keys + values) * GGUF_CONTEXT_BYTES_PER_VALUE;
  return { positions, layers: [{ bytesPerToken, window: null }] };
}

/** Returns the model's context from the files that an engine loads: its GGUF, else its config.json. */
export async function readModelContext(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  files: AssetRevision['files'],
): Promise<ModelContext> {
  const [gguf] = findGgufs(files);
  if (gguf) return readGgufContext((await readGgufHead(services, gguf)).numbers);
  return readConfigContext(await readModelJson(services, files, 'config.json'));
}

/** Layers with the same cache: for every token, or only for the last `window` tokens. */
type Layers = { bytesPerToken: number; window: number | null };

/** The context length and cache size of a model. */
export type ModelContext = {
  /** Maximum context length of the model; null if unknown. */
  positions: number | null;
  layers: Layers[];
};

/** Returns the KV cache size in bytes for one request with this many tokens. */
export function contextBytes({ layers }: ModelContext, tokens: number): number {
  return layers.reduce(
    (sum, { bytesPerToken, window }) => sum + bytesPerToken * Math.min(tokens, window ?? tokens),
    0,
  );
}
