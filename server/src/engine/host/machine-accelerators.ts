import { gpuLabel } from '@bakehouse/contract/labels';
import type { Logger } from 'pino';
import type { Gpu } from '../model/gpu.ts';
import { type Accelerators, findAccelerators, noAccelerators } from './accelerators.ts';
import { type EnvironmentSettings, hasLayer } from './environment/environment.ts';

const ASKED_AGAIN_AFTER_MS = 60_000;

/** Caches the result of `find`. After a failure, calls `find` again once a minute, in the background. */
export function cacheAccelerators(
  find: (settings: EnvironmentSettings) => Promise<Accelerators | null>,
  now: () => number = () => performance.now(),
) {
  let found: Accelerators | null = null;
  let first: Promise<void> | null = null;
  let nextProbeAt = 0;
  let problem = '';

  async function probe(settings: EnvironmentSettings, log: Logger): Promise<void> {
    nextProbeAt = Number.POSITIVE_INFINITY;
    try {
      const listed = await find(settings);
      found = listed ?? noAccelerators;
      const names = found.gpus.map(({ type, devices }) => `${devices.length} x ${gpuLabel(type)}`);
      for (const sentence of [...found.tooOld, ...found.needDriver, ...found.withoutVllm]) log.warn(sentence);
      if (listed && names.length === 0) log.warn('nvidia-smi lists no usable GPU');
      if (names.length > 0) log.info(`usable GPUs of this machine: ${names.join(', ')}`);
    } catch (error) {
      if (String(error) !== problem)
        log.warn({ err: error }, 'failed to list the GPUs of this machine; using the CPU until that works');
      problem = String(error);
      nextProbeAt = now() + ASKED_AGAIN_AFTER_MS;
    }
  }

  return {
    read: async (settings: EnvironmentSettings, log: Logger): Promise<Accelerators> => {
      if (first && !found && now() >= nextProbeAt) void probe(settings, log);
      first ??= probe(settings, log);
      await first;
      return found ?? noAccelerators;
    },
    areKnown: () => found !== null,
  };
}

const accelerators = cacheAccelerators(({ torchIndex }) => findAccelerators({ torchIndex }));

/** Returns the usable GPUs of this machine, which do not change while the server runs. */
export async function machineAccelerators(settings: EnvironmentSettings, log: Logger): Promise<Gpu[]> {
  return (await accelerators.read(settings, log)).gpus;
}

/** Also returns the GPUs that are not usable, and why. */
export function listAccelerators(settings: EnvironmentSettings, log: Logger): Promise<Accelerators> {
  return accelerators.read(settings, log);
}

/** Returns true if this machine has usable GPUs, or GPUs that a newer driver would make usable. */
export async function hasGpusToPrepare(settings: EnvironmentSettings, log: Logger): Promise<boolean> {
  const { gpus, needDriver } = await accelerators.read(settings, log);
  return gpus.length > 0 || needDriver.length > 0;
}

/** Returns true once the list of GPUs is known. */
export function haveListedAccelerators(): boolean {
  return accelerators.areKnown();
}

/** Returns true if text models are served on this machine's GPUs. */
export async function servesTextOnGpus(settings: EnvironmentSettings, log: Logger): Promise<boolean> {
  const { gpus, withoutVllm } = await accelerators.read(settings, log);
  return gpus.length > 0 && withoutVllm.length === 0 && (await hasLayer(settings, 'vllm'));
}
