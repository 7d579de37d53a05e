import { access } from 'node:fs/promises';
import { type GpuType, gpuTypes } from '@bakehouse/contract/limits';
import { runProgram } from '../../platform/processes/run-program.ts';
import type { Gpu } from '../model/gpu.ts';
import { listedGpu } from '../model/offer.ts';

const MIB = 1024 ** 2;
/**
 * PyTorch and vLLM in the lock files are built for CUDA 13, which does not support older GPUs such as the
 * V100. A custom index may have a PyTorch for them.
 */
const COMPUTE_CAPABILITY_MIN = 7.5;
/** Oldest driver that supports CUDA 13. */
const DRIVER_MIN = 580;

/** A faulty driver can make it hang. */
const NVIDIA_SMI_MS_MAX = 10_000;

export type Accelerators = {
  /** Usable GPUs, grouped by type. */
  gpus: Gpu[];
  /** A sentence for each type that PyTorch does not support. */
  tooOld: string[];
  /** A sentence for each type that needs a newer driver. */
  needDriver: string[];
  /** With a custom PyTorch index: a sentence for each usable type that vLLM does not support. */
  withoutVllm: string[];
};

export const noAccelerators: Accelerators = { gpus: [], tooOld: [], needDriver: [], withoutVllm: [] };

/**
 * Returns the NVIDIA GPUs of this machine. Null if there is neither nvidia-smi nor a driver; throws if there
 * is one of them but the GPUs cannot be listed.
 */
export async function findAccelerators({
  command = 'nvidia-smi',
  driverDir = '/proc/driver/nvidia',
  timeoutMs = NVIDIA_SMI_MS_MAX,
  torchIndex,
}: {
  command?: string;
  driverDir?: string;
  timeoutMs?: number;
  torchIndex?: string | undefined;
} = {}): Promise<Accelerators | null> {
  const query = [
    '--query-gpu=index,name,memory.total,compute_cap,driver_version',
    '--format=csv,noheader,nounits',
  ];
  try {
    const lines = await runProgram(command, query, { signal: AbortSignal.timeout(timeoutMs) });
    return readNvidiaSmi(lines, torchIndex);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && !(await exists(driverDir))) return null;
    throw error;
  }
}

function exists(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  );
}

/**
 * Parses lines such as '0, NVIDIA A100-SXM4-80GB, 81920, 8.0, 580.65.06' (MiB). With `torchIndex` no GPU is
 * left out: probing shows what that PyTorch can use.
 */
export function readNvidiaSmi(lines: string[], torchIndex?: string): Accelerators {
  const kinds = new Map<string, Gpu>();
  const tooOld = new Set<string>();
  const needDriver = new Set<string>();
  const withoutVllm = new Set<string>();
  for (const line of lines) {
    const [, index, name = '', mebibytes, capability, driver = ''] =
      /^(\d+), (.+), (\d+), (\d+\.\d+), ([\d.]+)$/.exec(line.trim()) ?? [];
    if (!name) continue;
    const computeCapability = Number(capability);
    const isTooOld = computeCapability < COMPUTE_CAPABILITY_MIN;
    const needsDriver = Number.parseInt(driver, 10) < DRIVER_MIN;
    if (torchIndex && (isTooOld || needsDriver)) {
      withoutVllm.add(
        `${name} serves no text: vLLM needs compute capability ${COMPUTE_CAPABILITY_MIN} and NVIDIA driver ${DRIVER_MIN} or newer, and this one has ${capability} and ${driver}.`,
      );
    } else if (isTooOld) {
      tooOld.add(
        `${name} is not used: this PyTorch has no code for GPUs of compute capability ${capability}, only from ${COMPUTE_CAPABILITY_MIN} on.`,
      );
      continue;
    } else if (needsDriver) {
      needDriver.add(
        `${name} is not used: its NVIDIA driver is ${driver}. Install driver ${DRIVER_MIN} or newer, and restart the machine.`,
      );
      continue;
    }
    const memoryBytes = Number(mebibytes) * MIB;
    const listed = listedType(name, memoryBytes);
    const type = listed ?? name;
    const known = kinds.get(type);
    if (known) {
      known.devices.push(Number(index));
      // GPUs with the same name may differ in memory. Work may get any of them, so use the smallest.
      known.memoryBytes = Math.min(known.memoryBytes, memoryBytes);
    } else {
      const like = listed ?? mostAlike({ memoryBytes, computeCapability });
      kinds.set(type, { type, memoryBytes, like, devices: [Number(index)] });
    }
  }
  return {
    gpus: [...kinds.values()],
    tooOld: [...tooOld],
    needDriver: [...needDriver],
    withoutVllm: [...withoutVllm],
  };
}

function listedType(name: string, memoryBytes: number): GpuType | null {
  // A part of a GPU: its name, such as `NVIDIA H100 80GB HBM3 MIG 1g.10gb`, is its type.
  if (/\bMIG\b/.test(name)) return null;
  if (/\bV100\b/.test(name)) return 'NVIDIA_TESLA_V100';
  if (/\bA100\b/.test(name)) {
    return memoryBytes > 60 * 1024 * MIB ? 'NVIDIA_TESLA_A100_80GB' : 'NVIDIA_TESLA_A100';
  }
  return /\bH100\b/.test(name) ? 'NVIDIA_H100_80GB' : null;
}

/** Returns the listed GPU with the nearest memory size; of several, with the nearest compute capability. */
function mostAlike(gpu: ReturnType<typeof listedGpu>): GpuType {
  const memoryDistance = (type: GpuType) => Math.abs(listedGpu(type).memoryBytes - gpu.memoryBytes);
  const ageDistance = (type: GpuType) => Math.abs(listedGpu(type).computeCapability - gpu.computeCapability);
  return gpuTypes.reduce((best, type) => {
    const difference = memoryDistance(type) - memoryDistance(best);
    return difference < 0 || (difference === 0 && ageDistance(type) < ageDistance(best)) ? type : best;
  });
}
