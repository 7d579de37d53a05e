import type { GpuType } from '@bakehouse/contract/limits';
import type { PicturesReport } from '@bakehouse/contract/runtime/validate-pictures-spec';
import { CPU_CORE_FLOPS, PASS_OVERHEAD_S, peakFlops } from '../validation/estimate-run.ts';

/*
 * How long a LoRA on pictures takes. Everything here is pure; docs/engine.md has the formulas.
 */

type Work = Pick<
  PicturesReport,
  'tokens_per_step' | 'steps_total' | 'base_parameters' | 'sizes' | 'held_out' | 'pictures_kept'
>;

type Settings = {
  batch_size: number;
  gradient_accumulation_steps: number;
  sample_every: number;
  sample_prompts: unknown[];
};

/** Steps of the sampler for a picture, each once with the prompt and once without. */
const SAMPLE_PASSES = 40;
/** What is measured at a checkpoint, as `train/diffusion/train.py` does: 64 small pictures, fewer of larger ones, at five times. */
const MEASURED = { rows: 64, side: 128, times: 5 };
/** Small pictures are trained in so many cuts. */
const CUTS = 8;
/** The part of its peak that a GPU reaches with a full-size model whose activations are computed twice. */
const GPU_UTILISATION = 0.3;

/**
 * Operations of a run: per token 4 per parameter, as the base is frozen, and 2 more on a GPU, where activations are computed
 * again; 2 where a checkpoint draws samples or measures.
 */
export function pictureFlops(work: Work, settings: Settings, device: 'cpu' | 'gpu'): number {
  const trained = (device === 'gpu' ? 6 : 4) * work.tokens_per_step * work.steps_total;
  const pictureTokens = work.tokens_per_step / (settings.batch_size * settings.gradient_accumulation_steps);
  const passes = countCheckpoints(work, settings) * (samplePasses(settings) + measuredPasses(work));
  return work.base_parameters * (trained + 2 * pictureTokens * passes);
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
  const drawing = countCheckpoints(work, settings) * samplePasses(settings);
  return (training + drawing / 4) * PASS_OVERHEAD_S;
}

/** With the samples before the first step. */
function countCheckpoints({ steps_total: steps }: Work, settings: Settings): number {
  return Math.ceil(steps / settings.sample_every) + (settings.sample_prompts.length > 0 ? 1 : 0);
}

/** Of a picture each, at a checkpoint. */
function samplePasses({ sample_prompts: prompts }: Settings): number {
  return prompts.length * SAMPLE_PASSES;
}

function measuredPasses({ sizes, held_out: heldOut, pictures_kept: kept }: Work): number {
  const pixels = MEASURED.rows * MEASURED.side ** 2;
  const rows = sizes.map(({ width, height }) => Math.max(1, Math.floor(pixels / (width * height))));
  const all = rows.reduce((sum, count) => sum + Math.min(count, MEASURED.rows), 0);
  return MEASURED.times * Math.min(all, CUTS * (heldOut || kept));
}
