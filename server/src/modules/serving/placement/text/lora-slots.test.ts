import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LORA_RANKS, LORA_SLOTS, loraSlotBytes } from './lora-slots.ts';

/** The published sizes of Llama 3.1 8B. */
const llama = {
  ...{ num_hidden_layers: 32, num_attention_heads: 32, num_key_value_heads: 8, hidden_size: 4096 },
  ...{ intermediate_size: 14_336, vocab_size: 128_256 },
};
const GB = 1e9;

test.each([
  ['rank 256', llama, 256, 1, 5.64],
  ['a rank without vLLM kernels uses the next one', llama, 200, 1, 5.64],
  ['rank 8', llama, 8, 1, 0.176],
  ['on two GPUs both hold the residual stream side', llama, 256, 2, 7.53],
  ['the text part of a vision model', { text_config: llama }, 8, 1, 0.176],
])('reserves memory for an 8B model: %s', (_case, config, rank, gpus, gigabytes) => {
  expect(loraSlotBytes(config, rank, gpus) / GB).toBeCloseTo(gigabytes, 2);
});

test("slots and ranks match the runtime's vLLM settings", () => {
  const file = new URL('../../../../../../runtime/src/bakehouse_runtime/serve/vllm.py', import.meta.url);
  const program = readFileSync(file, 'utf8');
  expect(program).toContain(`_LORA_RANKS = (${LORA_RANKS.join(', ')})`);
  expect(program).toContain(`_LORAS_IN_BATCH_MAX = ${LORA_SLOTS}\n`);
});

test('counts 0 without a known configuration', () => {
  expect(loraSlotBytes({ hidden_size: 64 }, 8, 1)).toBe(0);
  expect(loraSlotBytes(null, 8, 1)).toBe(0);
});
