import { describe, expect, it } from 'vitest';
import { contextBytes, readConfigContext, readGgufContext } from './model-context.ts';

const GIB = 1024 ** 3;

/* Published size: https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct caches 128 KiB per token. */
const llama8b = {
  max_position_embeddings: 131_072,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  hidden_size: 4096,
};

describe('the memory of a context', () => {
  const bytes = (config: object, tokens: number) => contextBytes(readConfigContext({ ...config }), tokens);

  it('counts keys and values of all layers by key-value heads', () => {
    expect(bytes(llama8b, 131_072)).toBe(16 * GIB);
    expect(bytes({ ...llama8b, num_key_value_heads: null }, 1)).toBe(4 * bytes(llama8b, 1));
    expect(bytes({ ...llama8b, head_dim: 64 }, 1)).toBe(bytes(llama8b, 1) / 2);
  });

  it('is limited by sliding windows and is zero for layers without attention', () => {
    const types = [...Array(5).fill('sliding_attention'), 'full_attention', 'linear_attention'];
    const mixed = { ...llama8b, num_hidden_layers: 7, layer_types: types, sliding_window: 1024 };
    const layer = bytes({ ...llama8b, num_hidden_layers: 1 }, 1);
    expect(bytes(mixed, 512)).toBe(6 * 512 * layer);
    expect(bytes(mixed, 8192)).toBe((5 * 1024 + 8192) * layer);
    const all = { ...llama8b, sliding_window: 4096 };
    expect(bytes(all, 8192)).toBe(bytes(llama8b, 4096));
    expect(bytes({ ...all, use_sliding_window: false }, 8192)).toBe(bytes(llama8b, 8192));
  });

  it('counts the compressed cache of latent attention', () => {
    const deepseek = { ...llama8b, num_hidden_layers: 61, kv_lora_rank: 512, qk_rope_head_dim: 64 };
    expect(bytes(deepseek, 1)).toBe(61 * 576 * 2);
  });

  it('is read from the text configuration of a vision model', () => {
    expect(readConfigContext({ text_config: llama8b })).toEqual(readConfigContext(llama8b));
  });
});

it('a configuration without layer data is unknown except for its positions', () => {
  expect(readConfigContext(null)).toEqual({ positions: null, layers: [] });
  expect(readConfigContext({ max_position_embeddings: 2048 })).toEqual({ positions: 2048, layers: [] });
  expect(readConfigContext({ ...llama8b, num_hidden_layers: 'many' })).toMatchObject({ layers: [] });
});

it('a GGUF gives the same result as config.json', () => {
  const numbers = new Map([
    ['llama.context_length', 131_072],
    ['llama.block_count', 32],
    ['llama.embedding_length', 4096],
    ['llama.attention.head_count', 32],
    ['llama.attention.head_count_kv', 8],
  ]);
  expect(readGgufContext(numbers)).toEqual({
    positions: 131_072,
    layers: [{ bytesPerToken: 128 * 1024, window: null }],
  });
  expect(readGgufContext(new Map([['bert.context_length', 512]]))).toEqual({ positions: 512, layers: [] });
});
