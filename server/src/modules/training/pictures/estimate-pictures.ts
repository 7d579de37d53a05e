import type { GpuType } from '@bakehouse/contract/limits';
import type { PicturesReport } from '@bakehouse/contract/runtime/validate-pictures-spec';
import { CPU_CORE_FLOPS, PASS_OVERHEAD_S, peakFlops } from '../validation/estimate-run.ts';

/*
 * How long a LoRA on pictures takes. Everything here is pure; docs/engine.md has the formulas.
 */

type Work = Pick<PicturesReport, 'tokens_per_step' | 'steps_total' | 'base_parameters'>;

/** Passes of a step of its own, of which there is one for each batch. */
type Settings = { gradient_accumulation_steps: number; sample_every: number; sample_prompts: unknown[] };

/** Steps of the sampler for a picture, each once with the prompt and once without. */
const SAMPLE_PASSES = 40;
/** The part of its peak that a GPU reaches with a full-size model whose activations are computed twice. */
const GPU_UTILISATION = 0.3;

/**
 * Operations of a run: per token 4 per parameter, as the base is frozen, and 2 more on a GPU, where activations are computed
 * again.
 */
export function pictureFlops(work: Work, device: 'cpu' | 'gpu'): number {
  const perToken = device === 'gpu' ? 6 : 4;
  return perToken * work.base_parameters * work.tokens_per_step * work.steps_total;
}

/** Seconds of training on one GPU of this type. */
export function pictureGpuSeconds(work: Work, settings: Settings, type: GpuType): number {
  const speed = peakFlops[type] * GPU_UTILISATION;
  return pictureFlops(work, 'gpu') / speed + overhead(work, settings);
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
  const flops = pictureFlops(work, 'cpu');
  if (measuredFlops !== null) return flops / measuredFlops;
  return flops / (CPU_CORE_FLOPS * cores) + overhead(work, settings);
}

/** Launching passes of a small model takes longer than the passes. */
function overhead({ steps_total: steps }: Work, settings: Settings): number {
  const checkpoints = 1 + Math.ceil(steps / settings.sample_every);
  const drawing = checkpoints * settings.sample_prompts.length * SAMPLE_PASSES;
  return (steps * settings.gradient_accumulation_steps + drawing / 4) * PASS_OVERHEAD_S;
}
