import { expect, test } from 'vitest';
import { unlisted } from '../../../engine/testing/test-gpus.ts';
import { chooseImagePlacement } from './place-image-model.ts';

const GIB = 1024 ** 3;
const cpu = { accelerator: null, count: 0 };
/** FLUX.1 [dev] in half precision: transformer, T5, CLIP and autoencoder. */
const FLUX = 33.7e9;
/** The published Paris in single precision: the router, a CLIP, the autoencoder, and eight experts. */
const PARIS = { allBytes: 20.7e9, gpuBytes: 3.8e9 };
const one = (type: string, gib: number) => unlisted(type, gib, [0]);

test.each([
  ['a small model uses the CPU without a GPU', 16e6, [], cpu],
  ['a small model uses the requested GPU', 16e6, [one('NVIDIA_TESLA_A100', 40)], 'NVIDIA_TESLA_A100'],
  ['FLUX fits into 40 GB', FLUX, [one('NVIDIA_TESLA_A100', 40)], 'NVIDIA_TESLA_A100'],
  [
    'FLUX uses another GPU if the requested one is too small',
    FLUX,
    [one('NVIDIA_TESLA_V100', 16), one('H', 80)],
    'H',
  ],
  ['FLUX reports the needed size without a GPU', FLUX, [], { neededGib: 38 }],
  [
    'FLUX reports the needed size if the GPU is too small',
    FLUX,
    [one('NVIDIA_TESLA_A100', 24)],
    { neededGib: 38 },
  ],
  ['a model of one gibibyte is the largest for the CPU', GIB, [], cpu],
  ['a model above one gibibyte needs a GPU', GIB + 1, [], { neededGib: 6 }],
  ['Paris needs room for one expert', PARIS, [one('NVIDIA_TESLA_V100', 16)], 'NVIDIA_TESLA_V100'],
  ['Paris reports the needed size', PARIS, [one('Small', 6)], { neededGib: 8 }],
  [
    'a model whose experts are large in total needs a GPU',
    { allBytes: GIB + 1, gpuBytes: 1 },
    [],
    { neededGib: 5 },
  ],
])('%s', (_case, weights, gpus, expected) => {
  const memory = typeof weights === 'number' ? { allBytes: weights, gpuBytes: weights } : weights;
  const chosen = chooseImagePlacement('NVIDIA_TESLA_A100', { gpus }, memory);
  expect(chosen).toEqual(typeof expected === 'string' ? { accelerator: expected, count: 1 } : expected);
});
