import { type ModelContext, unknownContext } from './context-memory.ts';

/** llama.cpp stores keys and values in 16 bits. */
const BYTES_PER_VALUE = 2;

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
  const bytesPerToken = layers * kept * (keys + values) * BYTES_PER_VALUE;
  return { positions, layers: [{ bytesPerToken, window: null }] };
}
