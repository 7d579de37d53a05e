import { type GpuType, gpuLabel } from '@bakehouse/contract/limits';
import { chooseGpu } from '../../../engine/queue/choose-gpu.ts';
import type { Capacity } from '../../../engine/queue/queue.ts';
import type { RequestedInstance, ServingPlacement } from '../kinds/deployment-kind.ts';
import type { TextEngine } from '../kinds/text-spec.ts';

/** The instance types of the wire and the GPU that each means. */
const instanceTypes = new Map<string, GpuType>([
  ['v100', 'NVIDIA_TESLA_V100'],
  ['a100', 'NVIDIA_TESLA_A100'],
  ['a100-80gb', 'NVIDIA_TESLA_A100_80GB'],
  ['h100', 'NVIDIA_H100_80GB'],
]);

/** The part of a GPU's memory that vLLM takes unless it is told otherwise. */
const VLLM_SHARE = 0.9;
/** What vLLM needs beside the weights on each GPU: its libraries, CUDA graphs, and one full context. */
const BESIDE_WEIGHTS_BYTES = 3 * 1024 ** 3;

export type TextPlacement = ServingPlacement & { engine: TextEngine };

/**
 * The GPUs that were asked for where they are, else as many of another kind that hold weights of
 * this size, and the CPU where there are none or vLLM is missing. Null for an unknown instance type. Pure.
 */
export function choosePlacement(
  { instanceType, gpuCount }: RequestedInstance,
  capacity: Capacity,
  weightsBytes: number,
): TextPlacement | null {
  const type = instanceTypes.get(instanceType);
  if (!type) return null;
  const neededBytes = weightsBytes / gpuCount + BESIDE_WEIGHTS_BYTES;
  const gpu = capacity.servesTextOnGpus
    ? chooseGpu(
        { type, count: gpuCount },
        capacity,
        ({ memoryBytes }) => neededBytes <= memoryBytes * VLLM_SHARE,
      )
    : null;
  return gpu
    ? { engine: 'vllm', accelerator: gpu.type, count: gpuCount }
    : { engine: 'llamacpp', accelerator: null, count: 0 };
}

/** Where a deployment runs, in words. */
export function deviceLabel(server: { accelerator: string | null; accelerator_count: number }): string {
  if (!server.accelerator) return 'CPU';
  return `${server.accelerator_count} x ${gpuLabel(server.accelerator)}`;
}

export const knownInstanceTypes = [...instanceTypes.keys()];
