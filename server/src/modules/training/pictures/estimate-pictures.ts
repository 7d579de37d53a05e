import type { GpuType } from '@bakehouse/contract/limits';
import type { PicturesReport } from '@bakehouse/contract/runtime/validate-pictures-spec';
import { CPU_CORE_FLOPS, PASS_OVERHEAD_S, peakFlops } from '../validation/estimate-run.ts';

/*
 * How long a LoRA on pictures takes. Everything here is pure; docs/engine.md has the formulas.
 */

type Work = Pick<PicturesReport, 'tokens_per_step' | 'steps_total' | 'base_parameters'>;

type Settings = {
  batch_size: number;
  gradient_accumulation_steps: number;
  sample_every: number;
  sample_prompts: unknown[];
};

/** Steps of the sampler for a picture, each once with the prompt and once without. */
const SAMPLE_PASSES = 40;
/** The part of its peak that a GPU reaches with a full-size model whose activations are computed twice. */
const GPU_UTILISATION = 0.3;

/**
 * Operations of a run: per token 4 per parameter, as the base is frozen, and 2 more on a GPU, where activations are computed
 * again; 2 for each pass of a sample.
 */
export function pictureFlops(work: Work, settings: Settings, device: 'cpu' | 'gpu'): number {
  const perToken = device === 'gpu' ? 6 : 4;
  const sampleTokens =
    (samplePasses(work, settings) * work.tokens_per_step) /
    (settings.batch_size * settings.gradient_accumulation_steps);
  return work.base_parameters * (perToken * work.tokens_per_step * work.steps_total + 2 * sampleTokens);
}

/** Seconds of training on one GPU of this type. */
export function pictureGpuSeconds(work: Work, settings: Settings, type: GpuType): number {
  const speed = peakFlops[type] * GPU_UTILISATION;
  return pictureFlops(work, settings, 'gpu') / speed + overhead(work, settings);
}

/**
 * Seconds of training on this machine's CPU.
 * @param measuredFlops operations per second that finished runs have reached here; null before the first.
 */
export function pictureCpuSeconds(
  work: Work,
  settings: Settings,
  cores: number,
  measuredFlops: number | null,
): number {
  const flops = pictureFlops(work, settings, 'cpu');
  if (measuredFlops !== null) return flops / measuredFlops;
  return flops / (CPU_CORE_FLOPS * cores) + overhead(work, settings);
}

/** Launching passes of a small model takes longer than the passes; those that only draw are shorter. */
function overhead(work: Work, settings: Settings): number {
  const training = work.steps_total * settings.gradient_accumulation_steps;
  return (training + samplePasses(work, settings) / 4) * PASS_OVERHEAD_S;
}

/** Passes that draw samples: before the first step and at each checkpoint. */
function samplePasses({ steps_total: steps }: Work, settings: Settings): number {
  const checkpoints = 1 + Math.ceil(steps / settings.sample_every);
  return checkpoints * settings.sample_prompts.length * SAMPLE_PASSES;
}
