import { expect, test } from 'vitest';
import { pictureCpuSeconds, pictureFlops, pictureGpuSeconds } from './check-diffusion-training.ts';

// Eight pictures per step with 96 tokens each.
const work = {
  ...{ tokens_per_step: 768, steps_total: 100, base_parameters: 1e7 },
  ...{ sizes: [{ width: 128, height: 128, count: 30 }], held_out: 3, pictures_kept: 30 },
};
const settings = {
  batch_size: 8,
  gradient_accumulation_steps: 1,
  sample_every: 50,
  sample_prompts: [{}, {}],
};
const unsampled = { ...settings, sample_prompts: [] };
const training = 1e7 * 768 * 100;
/** Operations of one picture's forward pass without gradients. */
const pass = 2 * 1e7 * 96;

test('counts samples and validation at each checkpoint, and also at the start if there are samples', () => {
  // Three held-out pictures with eight crops each, at five noise levels.
  const measuring = 3 * 8 * 5 * pass;
  expect(pictureFlops(work, settings, 'cpu')).toBe(4 * training + 3 * (2 * 40 * pass + measuring));
  expect(pictureFlops(work, settings, 'gpu')).toBe(6 * training + 3 * (2 * 40 * pass + measuring));
  expect(pictureFlops(work, unsampled, 'cpu')).toBe(4 * training + 2 * measuring);
});

test('validates up to 64 small pictures, or one large picture per size', () => {
  const of = (changed: Partial<typeof work>) =>
    (pictureFlops({ ...work, ...changed }, unsampled, 'cpu') - 4 * training) / (2 * pass);
  expect(of({ held_out: 0 })).toBe(64 * 5);
  const large = { width: 1024, height: 1024, count: 10 };
  expect(of({ sizes: [large, { ...large, width: 832, height: 1248 }] })).toBe(2 * 5);
});

test('uses the measured speed on a CPU; without a measurement, samples make a run longer on CPU and GPU', () => {
  expect(pictureCpuSeconds(work, settings, 2, 1e9)).toBe(pictureFlops(work, settings, 'cpu') / 1e9);
  const onCpu = (chosen: typeof settings) => pictureCpuSeconds(work, chosen, 2, null);
  const onGpu = (chosen: typeof settings) => pictureGpuSeconds(work, chosen, 'NVIDIA_TESLA_A100');
  for (const seconds of [onCpu, onGpu]) expect(seconds(settings)).toBeGreaterThan(seconds(unsampled));
});
