import type { Adaptation } from '@bakehouse/contract/fine-tune-numbers';
import { gpuLabel } from '@bakehouse/contract/labels';
import { type GpuType, gpuTypes, type Objective } from '@bakehouse/contract/limits';
import { formatBgl } from '@bakehouse/contract/money';
import type { ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import type { Gpu } from '../../../engine/model/gpu.ts';
import { listedGpu } from '../../../engine/model/listed-gpu.ts';
import { costMicro, type QuoteItem } from '../../credits/prices/cost-micro.ts';
import type { PriceList } from '../../credits/prices/prices.ts';

/*
 * How long a run takes and what memory it needs; docs/engine.md has the formulas and their
 * sources. Everything here is pure.
 */

/** What the estimate needs to know of data, model and settings. */
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
  /** Null: no magnitudes are trained. */
  dora: { dropout: number } | null;
  /** What the model writes to each row, where it learns from that: so many answers of at most so many tokens. */
  written: { answers: number; tokens: number } | null;
  epochs: number;
  /** Of the optimizer, in the whole run. */
  steps: number;
  batchSize: number;
  evalBatchSize: number;
  /** Of what is held out, in the whole run. */
  evaluations: number;
};

const GB = 1024 ** 3;

/** Half-precision operations per second, at most. */
export const peakFlops: Record<GpuType, number> = {
  NVIDIA_TESLA_V100: 125e12,
  NVIDIA_TESLA_A100: 312e12,
  NVIDIA_TESLA_A100_80GB: 312e12,
  NVIDIA_H100_80GB: 989e12,
};

/** Operations per second that one core of an unknown CPU is taken to do, until a run has shown it. */
export const CPU_CORE_FLOPS = 40e9;
/** Launching a forward and backward pass costs this much however small the model is. */
export const PASS_OVERHEAD_S = 0.05;
/** Operations per parameter for what an objective asks of each token besides training on it. */
const ASKED: Record<Objective, number> = { sft: 0, dpo: 2, kto: 6, grpo: 2 };
/**
 * Operations per parameter that writing a token takes as long as on a CPU: it reads all weights for one token of each
 * answer at a time. Measured with the starter model on two cores, docs/engine.md.
 */
const WRITING = 6;
/**
 * What Adam does to each trained weight in a step, as operations that take as long on a CPU: it reads and writes 45 bytes. Measured with
 * the starter model on one core, docs/engine.md.
 */
export const ADAM = 240;
/** The same on a GPU, by the bandwidth of an A100 of 40 GB. */
const ADAM_S = 45 / 1.5e12;
/**
 * What PEFT does to each weight in a forward pass to measure its row for DoRA, as operations that take as long on a CPU. Measured with
 * the starter model on one core, docs/engine.md.
 */
export const DORA = 500;
/** The same on a GPU, with the forward pass again that recomputes activations: as many bytes for an operation as of Adam. */
const DORA_S = (DORA / ADAM) * ADAM_S;
/**
 * What widening each weight from 4 bits adds to a forward and backward pass on a GPU: the median of what Qwen 7B took longer on an A100 at
 * six lengths (docs/engine.md).
 */
const FOUR_BITS_S = 2.4e-11;
/** On a GPU a step that writes one token to each answer of a batch waits for its kernels, and for nothing else. */
const WRITING_STEP_S = 0.03;
/**
 * What each of several GPUs does of what it does alone: they wait for the longest batch of each step, and for each other's gradients.
 * Not measured: PyTorch's distributed data parallel scales nearly linearly within a machine (https://arxiv.org/abs/2006.15704).
 */
const TOGETHER = 0.9;
/** Memory that fragmentation takes. */
const HEADROOM = 0.08;
/** How far the formula for memory is believed to be too low, at most. */
const CORRECTION_MIN = 1;
const CORRECTION_MAX = 1.5;

/**
 * Operations of a run: per trained token 4 per parameter (forward and the gradients of the
 * activations), 6 where activations are computed again (GPU), as much again where DoRA has dropout, since PEFT multiplies by the base
 * with and without it, and 2 more where all weights are trained, for their own gradients; per evaluated token 2. DPO asks the base
 * model about each token as well, which is 2 more, and KTO both models about answers to other questions
 * too, which are as long: 4 more. What fills a batch up to its longest example is computed as any token is. GRPO trains on
 * what it has written to each prompt, of which every answer is taken to be as long as it may be, and asks the base model as DPO does.
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
  // On a GPU its time has nothing to do with operations.
  const adam = isFull && device === 'cpu' ? work.steps * ADAM : 0;
  const dora = work.dora && device === 'cpu' ? forwardPasses(work) * DORA : 0;
  return work.base_parameters * (training + evaluating + writing + adam + dora);
}

/** How often a run evaluates: after each epoch, and after each `evalSteps` steps where no epoch ends; 0: after each epoch alone. */
export function countEvaluations(stepsTotal: number, epochs: number, evalSteps: number): number {
  if (evalSteps === 0) return epochs;
  const perEpoch = Math.max(1, Math.round(stepsTotal / epochs));
  const both = (perEpoch * evalSteps) / greatestDivisor(perEpoch, evalSteps);
  return epochs + Math.floor(stepsTotal / evalSteps) - Math.floor(stepsTotal / both);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/** Seconds of training on so many GPUs of this type. */
export function gpuSeconds(work: Work, type: GpuType, count = 1): number {
  const speed = peakFlops[type] * utilisation(type, work.train_tokens / Math.max(1, work.train_examples));
  const adam = work.adaptation === 'full' ? work.steps * work.base_parameters * ADAM_S : 0;
  const dora = work.dora ? forwardPasses(work) * work.base_parameters * DORA_S : 0;
  const waiting = passes(work) * PASS_OVERHEAD_S + writingSteps(work) * WRITING_STEP_S;
  const alone = runFlops(work, 'gpu') / speed + adam + dora + widening(work) + waiting;
  return count === 1 ? alone : alone / (count * TOGETHER);
}

/**
 * Seconds of training on this machine's CPU.
 * @param measuredFlops operations per second that finished runs have reached here; null before the first.
 */
export function cpuSeconds(work: Work, cores: number, measuredFlops: number | null): number {
  const flops = runFlops(work, 'cpu');
  if (measuredFlops !== null) return flops / measuredFlops;
  return flops / (CPU_CORE_FLOPS * cores) + passes(work) * PASS_OVERHEAD_S;
}

/** The part of the peak that training reaches, by the mean length of the examples (measured on 7B models). */
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

/** How often the model is read, whatever for. */
function forwardPasses(work: Work): number {
  const training = work.epochs * Math.ceil(work.train_examples / work.batchSize);
  const evaluating = work.evaluations * Math.ceil(work.eval_examples / work.evalBatchSize);
  return training + evaluating + writingSteps(work);
}

/** Seconds in which a base in 4 bits is widened; a pass that only reads does it once, not in each of three directions. */
function widening(work: Work): number {
  if (work.adaptation !== 'qlora') return 0;
  return (passes(work) + writingSteps(work) / 3) * work.base_parameters * FOUR_BITS_S;
}

/** Tokens that are written one after the other. */
function writingSteps(work: Work): number {
  const training = work.epochs * Math.ceil(work.train_examples / work.batchSize);
  const evaluating = work.evaluations * Math.ceil(work.eval_examples / work.evalBatchSize);
  return (work.written?.tokens ?? 0) * (training + evaluating);
}

/**
 * Bytes that a run needs, by the formula and by what runs like it have taken, as a part of what it said of them; null before the first.
 * Neither their data nor their batches were the same, so that they raise it, no further than so, and never lower it.
 */
export function correctedMemory(bytes: number, measured: number | null): number {
  return Math.round(bytes * Math.min(CORRECTION_MAX, Math.max(CORRECTION_MIN, measured ?? 1)));
}

/** Whether a run that needs so much memory fits into so much, with something to spare. */
export function fitsInto(memoryBytes: number, neededBytes: number): boolean {
  return neededBytes <= memoryBytes * (1 - HEADROOM);
}

/**
 * Null when the run fits where it goes; else the sentence that says what is missing.
 * @param gpu null: the CPU, with the memory of the machine.
 */
export function refuseMemory(
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

/** The GPUs that hold the run, cheapest for it first. */
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

/** What so many seconds on so many devices cost, in micro-BGL. */
export function runCostMicro(...run: Parameters<typeof runItems>): bigint {
  return costMicro(runItems(...run));
}

/** The items of a run's quote and of its charge: hours of devices. */
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
