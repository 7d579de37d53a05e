import type { Adaptation } from '@bakehouse/contract/fine-tune-numbers';
import { gpuLabel } from '@bakehouse/contract/labels';
import { type GpuType, gpuTypes, type Objective } from '@bakehouse/contract/limits';
import { formatBgl } from '@bakehouse/contract/money';
import type { ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import type { Gpu } from '../../../engine/model/gpu.ts';
import { listedGpu } from '../../../engine/model/offer.ts';
import { costMicro, type QuoteItem } from '../../billing/prices/cost.ts';
import type { PriceList } from '../../billing/prices/prices.ts';

/* Estimates the duration and memory of a run; docs/engine.md has the formulas and sources. */

/** Properties of data, model and settings that the estimate needs. */
export type Work = Pick<
  ValidateReport,
  | 'train_tokens'
  | 'train_padded_tokens'
  | 'eval_padded_tokens'
  | 'train_examples'
  | 'eval_examples'
  | 'base_parameters'
> & {
  objective: Objective;
  adaptation: Adaptation;
  /** The dropout of a DoRA; null without DoRA. */
  dora: { dropout: number } | null;
  /**
   * Text that the objective generates during training: answers per row, and the maximum tokens of an answer.
   * Null if it generates none.
   */
  written: { answers: number; tokens: number } | null;
  epochs: number;
  /** Optimizer steps of the whole run. */
  steps: number;
  batchSize: number;
  evalBatchSize: number;
  /** Evaluations of the whole run. */
  evaluations: number;
};

const GB = 1024 ** 3;

/** Peak half-precision operations per second. */
export const peakFlops: Record<GpuType, number> = {
  NVIDIA_TESLA_V100: 125e12,
  NVIDIA_TESLA_A100: 312e12,
  NVIDIA_TESLA_A100_80GB: 312e12,
  NVIDIA_H100_80GB: 989e12,
};

/** Operations per second of a CPU core, assumed until a run is measured. */
export const CPU_CORE_FLOPS = 40e9;
/** Minimum seconds of a forward and a backward pass, even of the smallest model. */
export const PASS_OVERHEAD_S = 0.05;
/** Operations per token and parameter that an objective needs in addition to training. */
const ASKED: Record<Objective, number> = { sft: 0, dpo: 2, kto: 6, grpo: 2 };
/**
 * Generating one token on a CPU takes as long as this many operations per parameter, because all weights are
 * read for one token of each answer. Measured with the starter model on two cores (docs/engine.md).
 */
const WRITING = 6;
/**
 * Adam's update of one weight on a CPU takes as long as this many operations, because it reads and writes 45
 * bytes. Measured with the starter model on one core (docs/engine.md).
 */
export const ADAM = 240;
/** Seconds of Adam's update of one weight on a GPU, by the bandwidth of an A100 with 40 GB. */
const ADAM_S = 45 / 1.5e12;
/**
 * PEFT computes a norm for DoRA in each forward pass. On a CPU this takes as long as this many operations per
 * weight. Measured with the starter model on one core (docs/engine.md).
 */
export const DORA = 500;
/**
 * Seconds of DoRA's norms per weight and pass on a GPU, including the pass that recomputes activations. Not
 * measured: assumes that operations and bytes have the same ratio as in Adam's update.
 */
const DORA_S = (DORA / ADAM) * ADAM_S;
/**
 * Seconds per weight that dequantizing 4 bits adds to a forward and a backward pass on a GPU. The median of
 * measurements with Qwen 7B on an A100 at six lengths (docs/engine.md).
 */
const FOUR_BITS_S = 2.4e-11;
/**
 * Seconds in which a GPU generates one token of each answer in a batch. Launching kernels takes most of this
 * time.
 */
const WRITING_STEP_S = 0.03;
/**
 * Efficiency of each GPU if there are several: they wait for the longest batch of a step, and for gradients.
 * Not measured. PyTorch's distributed data parallel scales nearly linearly within a machine
 * (https://arxiv.org/abs/2006.15704).
 */
const TOGETHER = 0.9;
/** The part of the memory that fragmentation makes unusable. */
const HEADROOM = 0.08;
/** Measurements change the memory estimate by a factor between these limits. */
const CORRECTION_MIN = 1;
const CORRECTION_MAX = 1.5;

/**
 * Returns the operations of a run, per parameter and token:
 * - 4 for each trained token: the forward pass and the gradients of activations.
 * - 6 instead of 4 on a GPU, which recomputes activations.
 * - Twice as many for DoRA with dropout, because PEFT multiplies by the base with and without dropout.
 * - 2 more if all weights are trained, for their gradients.
 * - 2 for each evaluated token.
 * - 2 more for DPO and GRPO, which also run the base model on each token.
 * - 6 more for KTO, which also runs the base model, and runs both models on answers to other questions.
 * Padding tokens count as tokens. GRPO trains on the answers that it generates; each is assumed to have the
 * maximum length.
 */
export function runFlops(work: Work, device: 'cpu' | 'gpu'): number {
  const isFull = work.adaptation === 'full';
  const isTwice = work.dora !== null && work.dora.dropout > 0;
  const perToken = (device === 'gpu' ? 6 : 4) * (isTwice ? 2 : 1) + (isFull ? 2 : 0);
  const asked = ASKED[work.objective];
  const { answers, tokens } = work.written ?? { answers: 1, tokens: 0 };
  const [trained, evaluated] = [work.train_examples * tokens * answers, work.eval_examples * tokens];
  const training = work.epochs * (perToken + asked) * (work.train_padded_tokens * answers + trained);
  const evaluating = work.evaluations * (work.written ? 2 : 2 + asked) * work.eval_padded_tokens;
  const writing = (device === 'gpu' ? 2 : WRITING) * (work.epochs * trained + work.evaluations * evaluated);
  // Adam's update on a GPU is limited by memory bandwidth, so `gpuSeconds` adds its time.
  const adam = isFull && device === 'cpu' ? work.steps * ADAM : 0;
  const dora = work.dora && device === 'cpu' ? forwardPasses(work) * DORA : 0;
  return work.base_parameters * (training + evaluating + writing + adam + dora);
}

/**
 * Returns the number of evaluations. They follow each epoch, and every `evalSteps` steps unless that is 0. An
 * evaluation that is due for both reasons counts once.
 */
export function countEvaluations(stepsTotal: number, epochs: number, evalSteps: number): number {
  if (evalSteps === 0) return epochs;
  const perEpoch = Math.max(1, Math.round(stepsTotal / epochs));
  const both = (perEpoch * evalSteps) / greatestDivisor(perEpoch, evalSteps);
  return epochs + Math.floor(stepsTotal / evalSteps) - Math.floor(stepsTotal / both);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/** Returns the seconds of training on this many GPUs of this type. */
export function gpuSeconds(work: Work, type: GpuType, count = 1): number {
  const speed = peakFlops[type] * utilisation(type, work.train_tokens / Math.max(1, work.train_examples));
  const adam = work.adaptation === 'full' ? work.steps * work.base_parameters * ADAM_S : 0;
  const dora = work.dora ? forwardPasses(work) * work.base_parameters * DORA_S : 0;
  const waiting = passes(work) * PASS_OVERHEAD_S + writingSteps(work) * WRITING_STEP_S;
  const alone = runFlops(work, 'gpu') / speed + adam + dora + widening(work) + waiting;
  return count === 1 ? alone : alone / (count * TOGETHER);
}

/**
 * Returns the seconds of training on this machine's CPU.
 * @param measuredFlops operations per second that finished runs reached here; null before the first.
 */
export function cpuSeconds(work: Work, cores: number, measuredFlops: number | null): number {
  const flops = runFlops(work, 'cpu');
  if (measuredFlops !== null) return flops / measuredFlops;
  return flops / (CPU_CORE_FLOPS * cores) + passes(work) * PASS_OVERHEAD_S;
}

/**
 * Returns the part of a GPU's peak speed that training reaches, by the mean length of the examples. Measured
 * on 7B models.
 */
function utilisation(type: GpuType, tokens: number): number {
  if (type === 'NVIDIA_TESLA_V100') return 0.22;
  if (type === 'NVIDIA_H100_80GB') return tokens < 512 ? 0.25 : 0.35;
  return tokens < 512 ? 0.25 : tokens < 1024 ? 0.4 : 0.45;
}

function passes(work: Work): number {
  const training = Math.ceil(work.train_examples / work.batchSize);
  const evaluating = Math.ceil(work.eval_examples / work.evalBatchSize) / 3;
  return work.epochs * training + work.evaluations * evaluating;
}

/** Returns the number of forward passes, including evaluation and generation. */
function forwardPasses(work: Work): number {
  const training = work.epochs * Math.ceil(work.train_examples / work.batchSize);
  const evaluating = work.evaluations * Math.ceil(work.eval_examples / work.evalBatchSize);
  return training + evaluating + writingSteps(work);
}

/**
 * Returns the seconds for dequantizing a 4-bit base. A pass for generation dequantizes it once, a training
 * pass three times.
 */
function widening(work: Work): number {
  if (work.adaptation !== 'qlora') return 0;
  return (passes(work) + writingSteps(work) / 3) * work.base_parameters * FOUR_BITS_S;
}

/** Returns how many tokens are generated one after the other. */
function writingSteps(work: Work): number {
  const training = work.epochs * Math.ceil(work.train_examples / work.batchSize);
  const evaluating = work.evaluations * Math.ceil(work.eval_examples / work.evalBatchSize);
  return (work.written?.tokens ?? 0) * (training + evaluating);
}

/**
 * Raises the estimated bytes to what similar runs have needed, as a multiple of the formula, up to a limit.
 * `measured` is null before the first such run. Measurements never lower the estimate, because the runs had
 * other data and batches.
 */
export function correctMemoryEstimate(bytes: number, measured: number | null): number {
  return Math.round(bytes * Math.min(CORRECTION_MAX, Math.max(CORRECTION_MIN, measured ?? 1)));
}

/** True if a run fits into this memory with some headroom. */
export function fitsInto(memoryBytes: number, neededBytes: number): boolean {
  return neededBytes <= memoryBytes * (1 - HEADROOM);
}

/**
 * Returns null if the run fits, else a sentence with what is missing.
 * @param gpu null for the CPU with the machine's memory.
 */
export function findMemoryFault(
  neededBytes: number,
  gpu: Pick<Gpu, 'type' | 'memoryBytes'> | null,
  machineBytes: number,
): string | null {
  const there = gpu?.memoryBytes ?? machineBytes;
  if (fitsInto(there, neededBytes)) return null;
  const where = gpu ? `the ${gpuLabel(gpu.type)}` : 'this machine';
  const size = `The run needs about ${gigabytes(neededBytes)} of memory, and ${where} has ${gigabytes(there)}`;
  return `${size}. Choose a smaller batch size, chunk size or base model${gpu ? ', or a larger GPU' : ''}.`;
}

/** Returns the GPUs that fit the run, cheapest first. */
export function recommendGpus(
  work: Work,
  neededBytes: number,
  prices: PriceList,
): { gpu_type: GpuType; description: string; cost: string }[] {
  return gpuTypes
    .filter((type) => fitsInto(listedGpu(type).memoryBytes, neededBytes))
    .map((type) => {
      const seconds = gpuSeconds(work, type);
      return { type, seconds, cost: runCostMicro(prices[`training:${type}`], seconds, 1) };
    })
    .sort((a, b) => Number(a.cost - b.cost))
    .map(({ type, seconds, cost }) => ({
      gpu_type: type,
      description: `${gpuLabel(type)}: needs ${gigabytes(neededBytes)}, about ${describeDuration(seconds)}`,
      cost: formatBgl(cost),
    }));
}

/** Returns the cost of this many seconds on this many devices, in micro-BGL. */
export function runCostMicro(...run: Parameters<typeof runItems>): bigint {
  return costMicro(runItems(...run));
}

/** Returns the items of a run's quote and of its charge. The unit is an hour of one device. */
export function runItems(
  price: QuoteItem['price'],
  seconds: number,
  devices: number,
  label?: string,
): QuoteItem[] {
  return [{ price, parts: BigInt(Math.round(seconds * 1000)) * BigInt(devices), label }];
}

/** 3221225472 -> '3.0 GB'. */
export function gigabytes(bytes: number): string {
  return `${(bytes / GB).toFixed(1)} GB`;
}

function describeDuration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
