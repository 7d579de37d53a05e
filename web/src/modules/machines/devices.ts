import { type GpuType, gpuTypes } from '@bakehouse/contract/limits';
import type { Machine } from '@bakehouse/contract/machines';

type Accelerators = Pick<Machine, 'accelerators'>;

/** Returns the display name of a device. The API's 'CPU' is this machine's; GPUs already have names. */
export function deviceName(device: string): string {
  return device === 'CPU' ? 'This machine’s CPU' : device;
}

/** Returns the product's GPU types that this machine has, with counts. */
export function gpusHere({ accelerators }: Accelerators): Map<GpuType, number> {
  const counts = new Map<string, number>(accelerators.map(({ gpu_type, count }) => [gpu_type, count]));
  return new Map(
    gpuTypes.flatMap((type) => {
      const count = counts.get(type);
      return count ? [[type, count] as const] : [];
    }),
  );
}

/** Describes a GPU type that this machine lacks. PyTorch for CUDA 13 doesn't support the V100. */
export function describeAbsence(type: GpuType): string {
  return type === 'NVIDIA_TESLA_V100' ? 'Not with this PyTorch' : 'Not on this machine';
}
