import { expect, test } from 'vitest';
import { findLoraFile } from './find-lora-file.ts';

test.each([
  [['pytorch_lora_weights.safetensors', 'README.md'], 'pytorch_lora_weights.safetensors'],
  [['other.safetensors', 'pytorch_lora_weights.safetensors'], 'pytorch_lora_weights.safetensors'],
  [['my-style.safetensors', 'README.md', 'samples/one.safetensors'], 'my-style.safetensors'],
  [['one.safetensors', 'two.safetensors'], undefined],
  [['transformer/weights.safetensors'], undefined],
  [['model.safetensors', 'config.json'], undefined],
  [['adapter_model.safetensors', 'adapter_config.json'], undefined],
  [['weights.safetensors', 'model_index.json'], undefined],
  [['model.safetensors'], undefined],
  [['README.md'], undefined],
])('finds the LoRA in file list %#', (paths, found) => {
  expect(findLoraFile(paths.map((path) => ({ path })))?.path).toBe(found);
});
