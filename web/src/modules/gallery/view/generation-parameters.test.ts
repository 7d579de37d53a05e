import { expect, test } from 'vitest';
import { generationOf } from '../testing/generation-of.ts';
import { differences, generationParameters } from './generation-parameters.ts';

const generated = (sampling_strategy: string, k: number, changed = {}) =>
  generationOf({ parameters: { cfg_scale: 7.5, sampling_strategy, k, seed: null }, ...changed });

test('labels parameters and values like the form', () => {
  expect(generationParameters(generated('topk', 4))).toEqual([
    { name: 'Guidance', value: '7.5' },
    { name: 'Experts', value: 'The best few' },
    { name: 'Number of experts', value: '4' },
    { name: 'Seed', value: '7' },
  ]);
});

test('returns only the differences of two generations', () => {
  expect(differences([generated('topk', 4), generated('full', 8)])).toEqual([
    { name: 'Experts', values: ['The best few', 'All eight'] },
    { name: 'Number of experts', values: ['4', '8'] },
  ]);
  expect(differences([generated('topk', 4), generated('topk', 4)])).toEqual([]);
  const revision = { asset_id: 'm1', revision_id: 'r3', number: 3, title: 'Paris starter' };
  const other = generated('topk', 4, { prompt: 'A roll', seed: 8, model_revision: revision });
  expect(differences([generated('topk', 4), other])).toEqual([
    { name: 'Prompt', values: ['A loaf of bread', 'A roll'] },
    { name: 'Model', values: ['paris-ddm-v1.0, version 2', 'paris-ddm-v1.0, version 3'] },
    { name: 'Seed', values: ['7', '8'] },
  ]);
});

test("shows a LoRA by its model's name", () => {
  const revision = { asset_id: 'a1', revision_id: 'r1', number: 1, title: 'Watercolor' };
  const flux = (lora_revision: typeof revision | null) =>
    generationOf({ generator: 'flux', parameters: { lora: 'a1', lora_scale: 0.5 }, lora_revision });
  expect(generationParameters(flux(revision))).toEqual([
    { name: 'LoRA strength', value: '0.5' },
    { name: 'Seed', value: '7' },
  ]);
  expect(differences([flux(revision), flux(null)])).toEqual([
    { name: 'LoRA', values: ['Watercolor, version 1', 'deleted'] },
  ]);
});
