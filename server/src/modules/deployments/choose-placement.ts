import type { Machine } from '@bakehouse/contract/machine';
import { type GpuType, gpuLabels } from '@bakehouse/contract/limits';
import type { PriceId } from '../credits/prices.ts';
import type { ServedBase } from './text-server-spec.ts';

/** The instance types of the wire and the GPU that each means. */
const instanceTypes: Record<string, GpuType> = {
  v100: 'NVIDIA_TESLA_V100',
  a100: 'NVIDIA_TESLA_A100',
  'a100-80gb': 'NVIDIA_TESLA_A100_80GB',
  h100: 'NVIDIA_H100_80GB',
};

export type ServingPlacement = {
  engine: ServedBase['engine'];
  accelerator: GpuType | null;
  count: number;
  priceId: PriceId;
  priceCount: number;
};

/** The GPU that was asked for where this machine has it, else its CPU. Null for an unknown instance type. */
export function choosePlacement(
  asked: { instanceType: string; gpuCount: number },
  accelerators: Machine['accelerators'],
): ServingPlacement | null {
  const accelerator = instanceTypes[asked.instanceType];
  if (!accelerator) return null;
  const there = accelerators.find((one) => one.gpu_type === accelerator);
  return there && there.count >= asked.gpuCount
    ? {
        engine: 'vllm',
        accelerator,
        count: asked.gpuCount,
        priceId: 'text_serving:GPU',
        priceCount: asked.gpuCount,
      }
    : { engine: 'llamacpp', accelerator: null, count: 0, priceId: 'text_serving:CPU', priceCount: 1 };
}

/** Where a deployment runs, in words. */
export function deviceLabel(server: { accelerator: string | null; accelerator_count: number }): string {
  if (!server.accelerator) return 'CPU';
  return `${server.accelerator_count} x ${gpuLabels[server.accelerator as GpuType]}`;
}

export const knownInstanceTypes = Object.keys(instanceTypes);
