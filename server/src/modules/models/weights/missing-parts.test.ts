import { expect, test } from 'vitest';
import { isWholeModel } from './missing-parts.ts';

test.each([
  ['weights with their configuration', ['config.json', 'model.safetensors'], true],
  ['a model with an adapter next to it', ['model.safetensors', 'adapter/adapter_config.json'], true],
  ['an adapter', ['adapter_config.json', 'adapter_model.safetensors'], false],
  [
    'only an adapter in a folder',
    ['adapter/adapter_config.json', 'adapter/adapter_model.safetensors'],
    false,
  ],
  ['a GGUF', ['config.json', 'model.gguf'], false],
])('classifies %s', (_case, paths, isWhole) => {
  expect(isWholeModel(paths.map((path) => ({ path })))).toBe(isWhole);
});
