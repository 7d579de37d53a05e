import { type GpuType, gpuLabels } from '@bakehouse/contract/limits';
import type { Machine } from '@bakehouse/contract/machine';
import { runProgram } from './run-program.ts';

/** GPUs of one kind, by their numbers on this machine. */
export type Accelerator = Omit<Machine['accelerators'][number], 'count'> & { devices: number[] };

const MIB = 1024 ** 2;

/** The NVIDIA GPUs of this machine, grouped by kind. Empty where there is no driver. */
export async function findAccelerators(): Promise<Accelerator[]> {
  const query = ['--query-gpu=index,name,memory.total', '--format=csv,noheader,nounits'];
  return readNvidiaSmi(await runProgram('nvidia-smi', query).catch(() => []));
}

/** Reads lines such as '0, NVIDIA A100-SXM4-80GB, 81920' (MiB). */
export function readNvidiaSmi(lines: string[]): Accelerator[] {
  const kinds = new Map<string, Accelerator>();
  for (const line of lines) {
    const [, index, name = '', mebibytes] = /^(\d+), (.+), (\d+)$/.exec(line.trim()) ?? [];
    if (!name) continue;
    const memory = Number(mebibytes) * MIB;
    const kind = productName(name, memory);
    const known = kinds.get(kind.gpu_type);
    if (known) known.devices.push(Number(index));
    else kinds.set(kind.gpu_type, { ...kind, memory_bytes: memory, devices: [Number(index)] });
  }
  return [...kinds.values()];
}

/** The product's name for a GPU; one that it does not list keeps the driver's name. */
function productName(name: string, memoryBytes: number): { gpu_type: string; label: string } {
  const known = (type: GpuType) => ({ gpu_type: type, label: gpuLabels[type] });
  if (/\bV100\b/.test(name)) return known('NVIDIA_TESLA_V100');
  if (/\bA100\b/.test(name)) {
    return known(memoryBytes > 60 * 1024 * MIB ? 'NVIDIA_TESLA_A100_80GB' : 'NVIDIA_TESLA_A100');
  }
  if (/\bH100\b/.test(name)) return known('NVIDIA_H100_80GB');
  return { gpu_type: name.toUpperCase().replace(/[^A-Z0-9]+/g, '_'), label: name };
}
