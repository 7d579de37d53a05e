import { gpuLabel } from '@bakehouse/contract/labels';
import { type GpuType, instanceGpus, instanceTypes } from '@bakehouse/contract/limits';
import type { Capacity } from '../../../engine/model/capacity.ts';
import { chooseGpu } from '../../../engine/queue/choose-gpu.ts';
import type { RequestedInstance, ServingPlacement } from '../served-model.ts';
import type { TextEngine } from '../text-spec.ts';

/** The GPU that an instance type of the wire means; undefined for an unknown one. */
export function gpuOfInstance(name: string): GpuType | undefined {
  const known = instanceTypes.find((type) => type === name);
  return known && instanceGpus[known];
}

/** The part of a GPU's memory that vLLM is told to take (the runtime's serve/vllm.py). */
const VLLM_SHARE = 0.9;
/** What vLLM needs beside the weights on each GPU: its libraries, CUDA graphs, and one full context. */
const BESIDE_WEIGHTS_BYTES = 3 * 1024 ** 3;

export type TextPlacement = ServingPlacement & { engine: TextEngine };

/**
 * The GPUs that were asked for where they are and hold weights of this size, else as many of another kind that do, and
 * the CPU where there are none or vLLM is missing. Null for an unknown instance type. Pure.
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

/** The memory that each of the GPUs must have for weights of this size. */
export function gpuBytes(weightsBytes: number, gpuCount: number): number {
  return (weightsBytes / gpuCount + BESIDE_WEIGHTS_BYTES) / VLLM_SHARE;
}

/** Where a deployment runs, in words. */
export function deviceLabel(server: { accelerator: string | null; accelerator_count: number }): string {
  if (!server.accelerator) return 'CPU';
  return `${server.accelerator_count} x ${gpuLabel(server.accelerator)}`;
}
