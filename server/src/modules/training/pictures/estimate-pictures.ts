import type { GpuType } from '@bakehouse/contract/limits';
import type { PicturesReport } from '@bakehouse/contract/runtime/validate-pictures-spec';
import { CPU_CORE_FLOPS, PASS_OVERHEAD_S, peakFlops } from '../validation/estimate-run.ts';

/* Estimates the duration of a picture LoRA; docs/engine.md has the formulas. */

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

/** Forward passes per sample: each sampler step runs with and without the prompt. */
const SAMPLE_PASSES = 40;
/**
 * Validation at a checkpoint as in `train/diffusion/train.py`: 64 small pictures or fewer large ones, at five
 * times.
 */
const MEASURED = { rows: 64, side: 128, times: 5 };
/** Crops of each small picture. */
const CUTS = 8;
/** Share of its peak that a GPU reaches with a full-size model and recomputed activations. */
const GPU_UTILISATION = 0.3;

/**
 * Returns the operations of a run. Per token and parameter: 4, because the base is frozen; 6 on a GPU, which
 * recomputes activations; 2 for samples and validation at checkpoints.
 */
export function pictureFlops(work: Work, settings: Settings, device: 'cpu' | 'gpu'): number {
  const trained = (device === 'gpu' ? 6 : 4) * work.tokens_per_step * work.steps_total;
  const pictureTokens = work.tokens_per_step / (settings.batch_size * settings.gradient_accumulation_steps);
  const passes = countCheckpoints(work, settings) * (samplePasses(settings) + measuredPasses(work));
  return work.base_parameters * (trained + 2 * pictureTokens * passes);
}

/** Returns the seconds of training on one GPU of this type. */
export function pictureGpuSeconds(work: Work, settings: Settings, type: GpuType): number {
  const speed = peakFlops[type] * GPU_UTILISATION;
  return pictureFlops(work, settings, 'gpu') / speed + overhead(work, settings);
}

/**
 * Returns the seconds of training on this machine's CPU.
 * @param measuredFlops operations per second that finished runs reached here; null before the first.
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

/** For a small model launching a pass takes longer than computing it. Sampling passes are shorter. */
function overhead(work: Work, settings: Settings): number {
  const training = work.steps_total * settings.gradient_accumulation_steps;
  const drawing = countCheckpoints(work, settings) * samplePasses(settings);
  return (training + drawing / 4) * PASS_OVERHEAD_S;
}

/** Includes the samples before the first step. */
function countCheckpoints({ steps_total: steps }: Work, settings: Settings): number {
  return Math.ceil(steps / settings.sample_every) + (settings.sample_prompts.length > 0 ? 1 : 0);
}

/** Passes for all samples of a checkpoint. */
function samplePasses({ sample_prompts: prompts }: Settings): number {
  return prompts.length * SAMPLE_PASSES;
}

function measuredPasses({ sizes, held_out: heldOut, pictures_kept: kept }: Work): number {
  const pixels = MEASURED.rows * MEASURED.side ** 2;
  const rows = sizes.map(({ width, height }) => Math.max(1, Math.floor(pixels / (width * height))));
  const all = rows.reduce((sum, count) => sum + Math.min(count, MEASURED.rows), 0);
  return MEASURED.times * Math.min(all, CUTS * (heldOut || kept));
}
