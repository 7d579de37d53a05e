import { gpuLabel } from '@bakehouse/contract/labels';
import {
  CONTEXT_TOKENS_MIN,
  DEFAULT_CONTEXT_TOKENS,
  type GpuType,
  instanceGpus,
  instanceTypes,
} from '@bakehouse/contract/limits';
import type { Capacity } from '../../../engine/model/capacity.ts';
import { chooseGpu } from '../../../engine/queue/choose-gpu.ts';
import { invalidParam } from '../../../platform/errors.ts';
import { contextBytes, type ModelContext } from '../../models/context/model-context.ts';
import type { RequestedInstance, ServedContext, ServingPlacement } from '../served-model.ts';
import { PARALLEL_REQUESTS, type TextEngine } from '../text-spec.ts';

/** The part of a GPU's memory that vLLM may use. The runtime sets it in serve/vllm.py. */
const VLLM_SHARE = 0.9;

/** Memory per GPU that vLLM needs besides the weights, for libraries, CUDA graphs and one full context. */
const BESIDE_WEIGHTS_BYTES = 3 * 1024 ** 3;

const GB = 1e9;

/** Returns the GPU of an instance type in the API, if known. */
export function gpuOfInstance(name: string): GpuType | undefined {
  const known = instanceTypes.find((type) => type === name);
  return known && instanceGpus[known];
}

type TextPlacement = ServingPlacement & { engine: TextEngine };

/**
 * Chooses where to serve a model: on the requested GPUs if the machine has them and the weights fit; else on
 * as many GPUs of another type; else, or without vLLM, on the CPU. Null for an unknown instance type.
 */
export function choosePlacement(
  { instanceType, gpuCount }: RequestedInstance,
  { gpus = [], servesTextOnGpus = false }: Capacity,
  weightsBytes: number,
): TextPlacement | null {
  const type = gpuOfInstance(instanceType);
  if (!type) return null;
  const neededBytes = gpuBytes(weightsBytes, gpuCount);
  const large = servesTextOnGpus ? gpus.filter(({ memoryBytes }) => neededBytes <= memoryBytes) : [];
  const gpu = chooseGpu({ type, count: gpuCount }, { gpus: large }, () => true);
  return gpu
    ? { engine: 'vllm', accelerator: gpu.type, count: gpuCount }
    : { engine: 'llamacpp', accelerator: null, count: 0 };
}

/** Returns the memory that each GPU needs for weights of this size. */
export function gpuBytes(weightsBytes: number, gpuCount: number): number {
  return (weightsBytes / gpuCount + BESIDE_WEIGHTS_BYTES) / VLLM_SHARE;
}

/** Returns the label of a deployment's device, e.g. '2 x A100'. */
export function deviceLabel(server: { accelerator: string | null; accelerator_count: number }): string {
  if (!server.accelerator) return 'CPU';
  return `${server.accelerator_count} x ${gpuLabel(server.accelerator)}`;
}

/**
 * Returns the context to serve: the requested one, up to the model's maximum. Throws AppError
 * 'invalid_request'.
 */
export function chooseContext(
  title: string,
  { positions }: ModelContext,
  asked: number | undefined,
): ServedContext {
  if (asked !== undefined && positions !== null && asked > positions) {
    throw invalidParam(
      'context_tokens',
      `context_tokens must be at most ${positions}: ${title} was made to read no more`,
    );
  }
  return { tokens: asked ?? Math.min(DEFAULT_CONTEXT_TOKENS, positions ?? Infinity), max: positions };
}

type OnCpu = { asked: number | undefined; memoryBytes: number | undefined };

/**
 * Returns the context to serve on the CPU. llama.cpp reserves its memory for each concurrent request. If no
 * context is requested, chooses the largest context that fits into memory with the weights. Throws AppError
 * 'invalid_request'.
 */
export function chooseCpuContext(
  { title, weightsBytes }: { title: string; weightsBytes: number },
  model: ModelContext,
  { asked, memoryBytes = Infinity }: OnCpu,
): ServedContext {
  const wanted = chooseContext(title, model, asked);
  const needed = (tokens: number) => weightsBytes + PARALLEL_REQUESTS.llamacpp * contextBytes(model, tokens);
  let fitting = wanted.tokens;
  while (needed(fitting) > memoryBytes && fitting > CONTEXT_TOKENS_MIN) fitting = Math.ceil(fitting / 2);
  if (asked !== undefined && fitting < asked) {
    throw invalidParam(
      'context_tokens',
      `context_tokens: ${asked} tokens of ${title} need ${Math.ceil(needed(asked) / GB)} GB of memory, and this machine has ` +
        `${Math.floor(memoryBytes / GB)} GB. Ask for ${fitting}`,
    );
  }
  return { ...wanted, tokens: fitting };
}

/**
 * Throws AppError 'invalid_request' if the installation cannot run `min_replicas` replicas, even when idle.
 */
export function checkCapacity(
  { min_replicas }: { min_replicas: number },
  { accelerator, count }: ServingPlacement,
  capacity: Capacity,
): void {
  const room =
    accelerator === null ? (capacity['cpu:deployment'] ?? 0) : roomOnGpus(accelerator, count, capacity);
  if (min_replicas <= Math.max(1, room)) return;
  const device = deviceLabel({ accelerator, accelerator_count: count });
  throw invalidParam(
    'min_replicas',
    `min_replicas must be at most ${room}: this server has room for no more replicas on ${device}`,
  );
}

/** Returns how many replicas fit on the GPUs. The GPUs of a replica must be in one machine. */
function roomOnGpus(accelerator: string, count: number, { gpus = [] }: Capacity): number {
  const ofKind = gpus.filter(({ type }) => type === accelerator);
  return ofKind.reduce(
    (sum, { devices, machines = 1 }) => sum + Math.floor(devices.length / count) * machines,
    0,
  );
}
