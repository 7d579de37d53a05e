import { expect, test } from 'vitest';
import { memoryOfAllWeights, parisMemory } from './image-memory.ts';

const weights = (sizes: Record<string, number>) =>
  Object.entries(sizes).map(([folder, size_bytes]) => ({ path: `${folder}/model.safetensors`, size_bytes }));
const shared = { router: 5, vae: 3, text_encoder: 4 };

test.each([
  ['at least one of eight whole experts', { expert_0: 24, expert_1: 24 }, { allBytes: 60, gpuBytes: 36 }],
  [
    'a difference is as large as its base',
    { base: 24, expert_0: 1, expert_1: 1 },
    { allBytes: 60, gpuBytes: 36 },
  ],
  ['the largest one if sizes differ', { expert_0: 24, expert_1: 30 }, { allBytes: 66, gpuBytes: 42 }],
])(
  "a GPU holds a Paris model's router, autoencoder, text encoder and, of its experts: %s",
  (_case, experts, memory) => {
    expect(parisMemory(weights({ ...shared, ...experts }))).toEqual(memory);
  },
);

test('counts all weights of another model', () => {
  expect(memoryOfAllWeights(weights({ transformer: 24, vae: 3 }))).toEqual({ allBytes: 27, gpuBytes: 27 });
});
