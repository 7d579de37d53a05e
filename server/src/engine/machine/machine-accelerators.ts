import type { Gpu } from '../queue/gpu.ts';
import { findAccelerators } from './accelerators.ts';
import type { EnvironmentSettings } from './environment/environment.ts';
import { hasLayer } from './environment/has-layer.ts';

let accelerators: Promise<Gpu[]> | null = null;

/** The GPUs of this machine, asked for once: they do not change while we run. */
export function machineAccelerators(): Promise<Gpu[]> {
  accelerators ??= findAccelerators();
  return accelerators;
}

/** Whether text is served on this machine's GPUs. */
export async function servesTextOnGpus(settings: EnvironmentSettings): Promise<boolean> {
  return (await machineAccelerators()).length > 0 && (await hasLayer(settings, 'vllm'));
}
