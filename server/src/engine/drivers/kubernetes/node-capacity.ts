import type { Queues } from '../../../platform/cluster-settings.ts';
import { readNvidiaSmi } from '../../host/accelerators.ts';
import type { Capacity } from '../../model/capacity.ts';
import type { Gpu } from '../../model/gpu.ts';
import type { Offer } from '../../model/offer.ts';
import { queuesFor } from './kueue.ts';
import { isTrue, type Node } from './objects.ts';

/** Labels written by NVIDIA's GPU feature discovery. */
const PRODUCT = 'nvidia.com/gpu.product';
const MEMORY_MIB = 'nvidia.com/gpu.memory';
const COMPUTE_MAJOR = 'nvidia.com/gpu.compute.major';
const COMPUTE_MINOR = 'nvidia.com/gpu.compute.minor';
const DRIVER_MAJOR = 'nvidia.com/cuda.driver.major';
export const GPU_RESOURCE = 'nvidia.com/gpu';

/** The cluster's capacity, and the product labels of each GPU type. */
export type NodeCapacity = {
  capacity: Capacity;
  cpu: Offer['cpu'];
  products: Map<string, string[]>;
  /** GPU types that are not offered because they have no queue. */
  withoutQueue: string[];
};

/**
 * Sums the capacity of the nodes. Without `cpuWork`, no CPUs are offered; with it, nodes with GPUs also offer
 * theirs.
 * @param queues Kueue's queues; null if Kueue is not used.
 */
export function readNodes(nodes: Node[], cpuWork: boolean, queues: Queues | null): NodeCapacity {
  const gpus = new Map<string, Gpu>();
  const products = new Map<string, string[]>();
  const withoutQueue = new Set<string>();
  const usable = nodes.filter(({ spec, status }) => !spec?.unschedulable && isTrue(status, 'Ready'));
  for (const node of usable) {
    const { [PRODUCT]: product } = node.metadata.labels ?? {};
    const gpu = product === undefined ? null : readGpus(node);
    if (product === undefined || !gpu) continue;
    if (queues && !queuesFor(queues, gpu.type)) {
      withoutQueue.add(gpu.type);
      continue;
    }
    products.set(gpu.type, [...new Set([...(products.get(gpu.type) ?? []), product])]);
    const known = gpus.get(gpu.type);
    gpus.set(gpu.type, known ? together(known, gpu) : { ...gpu, machines: 1 });
  }
  const memories = usable.map(({ status }) => readQuantity(status?.allocatable?.memory));
  const cores = usable.reduce((sum, { status }) => sum + readQuantity(status?.allocatable?.cpu), 0);
  return {
    products,
    withoutQueue: [...withoutQueue],
    cpu: { cores: Math.floor(cores), memory_bytes: memories.reduce((sum, bytes) => sum + bytes, 0) },
    capacity: {
      ...(cpuWork && { 'cpu:run': usable.length, 'cpu:deployment': usable.length }),
      ...(cpuWork && memories.length > 0 && { cpuMemoryBytes: Math.max(...memories) }),
      gpus: [...gpus.values()],
      servesTextOnGpus: gpus.size > 0,
    },
  };
}

/** The GPUs of one node, which are all of one type; null if none is usable. */
function readGpus({ metadata: { labels = {} }, status }: Node): Gpu | null {
  const count = Number(status?.allocatable?.[GPU_RESOURCE] ?? 0);
  const name = labels[PRODUCT]?.replaceAll('-', ' ');
  const capability = `${labels[COMPUTE_MAJOR] ?? 8}.${labels[COMPUTE_MINOR] ?? 0}`;
  const driver = labels[DRIVER_MAJOR] ?? 580;
  const lines = Array.from(
    { length: count },
    (_, index) => `${index}, ${name}, ${labels[MEMORY_MIB] ?? 0}, ${capability}, ${driver}.0`,
  );
  return readNvidiaSmi(lines).gpus[0] ?? null;
}

function together(one: Gpu, other: Gpu): Gpu {
  return {
    ...one,
    memoryBytes: Math.min(one.memoryBytes, other.memoryBytes),
    devices: one.devices.length >= other.devices.length ? one.devices : other.devices,
    machines: (one.machines ?? 1) + 1,
  };
}

const UNITS: Record<string, number> = {
  m: 1e-3,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
};

/** Parses a quantity such as `512Gi` or `3900m`. */
function readQuantity(quantity = '0'): number {
  const [, number = '0', unit = ''] = /^(\d+(?:\.\d+)?)(\w*)$/.exec(quantity) ?? [];
  return Number(number) * (UNITS[unit] ?? 1);
}
