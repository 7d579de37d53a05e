import { gpuLabel } from '@bakehouse/contract/labels';
import { type GpuType, instanceGpus, instanceTypes } from '@bakehouse/contract/limits';
import type { Capacity } from '../../../engine/model/capacity.ts';
import { chooseGpu } from '../../../engine/queue/choose-gpu.ts';
import type { RequestedInstance, ServingPlacement } from '../served-model.ts';
import type { TextEngine } from '../text-spec.ts';

/** Returns the GPU of an instance type in the API, if known. */
export function gpuOfInstance(name: string): GpuType | undefined {
  const known = instanceTypes.find((type) => type === name);
  return known && instanceGpus[known];
}

/** Share of a GPU's memory that vLLM is configured to use (the runtime's serve/vllm.py). */
const VLLM_SHARE = 0.9;
/** Memory that vLLM needs on each GPU next to the weights: libraries, CUDA graphs and one full context. */
const BESIDE_WEIGHTS_BYTES = 3 * 1024 ** 3;

export type TextPlacement = ServingPlacement & { engine: TextEngine };

/**
 * Returns the requested GPUs if they exist and fit the weights, else as many of another type, else the CPU
 * (also if vLLM is missing). Null for an unknown instance type.
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

/** Returns a label of a deployment's device. */
export function deviceLabel(server: { accelerator: string | null; accelerator_count: number }): string {
  if (!server.accelerator) return 'CPU';
  return `${server.accelerator_count} x ${gpuLabel(server.accelerator)}`;
}
