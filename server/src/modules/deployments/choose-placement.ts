import { type GpuType, gpuLabels } from '@bakehouse/contract/limits';
import { placeWorkload } from '../../engine/place-workload.ts';
import type { Capacity } from '../../engine/queue.ts';
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

/** The GPU that was asked for where there is one, else the CPU. Null for an unknown instance type. */
export function choosePlacement(
  asked: { instanceType: string; gpuCount: number },
  capacity: Capacity,
): ServingPlacement | null {
  const accelerator = instanceTypes[asked.instanceType];
  if (!accelerator) return null;
  const placed = placeWorkload({ type: accelerator, count: asked.gpuCount }, capacity);
  return placed.accelerator
    ? { ...placed, engine: 'vllm', priceId: 'text_serving:GPU', priceCount: asked.gpuCount }
    : { ...placed, engine: 'llamacpp', priceId: 'text_serving:CPU', priceCount: 1 };
}

/** Where a deployment runs, in words. */
export function deviceLabel(server: { accelerator: string | null; accelerator_count: number }): string {
  if (!server.accelerator) return 'CPU';
  return `${server.accelerator_count} x ${gpuLabels[server.accelerator as GpuType]}`;
}

export const knownInstanceTypes = Object.keys(instanceTypes);
