import { type GpuType, gpuTypes } from '@bakehouse/contract/limits';
import type { Machine } from '@bakehouse/contract/machines';

type Accelerators = Pick<Machine, 'accelerators'>;

/** Where it runs, for people: the wire's 'CPU' is the one of this machine; GPUs have their names already. */
export function deviceName(device: string): string {
  return device === 'CPU' ? 'This machine’s CPU' : device;
}

/** Those of the product's GPUs that this machine has, and how many. */
export function gpusHere({ accelerators }: Accelerators): Map<GpuType, number> {
  const counts = new Map<string, number>(accelerators.map(({ gpu_type, count }) => [gpu_type, count]));
  return new Map(
    gpuTypes.flatMap((type) => {
      const count = counts.get(type);
      return count ? [[type, count] as const] : [];
    }),
  );
}

/** How a GPU that this machine does not have is marked in a list. PyTorch for CUDA 13 has no code for the V100. */
export function describeAbsence(type: GpuType): string {
  return type === 'NVIDIA_TESLA_V100' ? 'Not with this PyTorch' : 'Not on this machine';
}
