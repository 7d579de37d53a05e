import { gpuLabel } from '@bakehouse/contract/labels';
import type { Logger } from 'pino';
import type { Gpu } from '../model/gpu.ts';
import { type Accelerators, findAccelerators, noAccelerators } from './accelerators.ts';
import type { EnvironmentSettings } from './environment/environment.ts';
import { hasLayer } from './environment/has-layer.ts';

const ASKED_AGAIN_AFTER_MS = 60_000;

/** Caches what `find` has found. After a failure it runs again each minute, in the background. */
export function rememberAccelerators(
  find: (settings: EnvironmentSettings) => Promise<Accelerators | null>,
  now: () => number = () => performance.now(),
) {
  let found: Accelerators | null = null;
  let first: Promise<void> | null = null;
  let askAgainAt = 0;
  let problem = '';

  async function ask(settings: EnvironmentSettings, log: Logger): Promise<void> {
    askAgainAt = Number.POSITIVE_INFINITY;
    try {
      const listed = await find(settings);
      found = listed ?? noAccelerators;
      const names = found.gpus.map(({ type, devices }) => `${devices.length} x ${gpuLabel(type)}`);
      for (const sentence of [...found.tooOld, ...found.needDriver, ...found.withoutVllm]) log.warn(sentence);
      if (listed && names.length === 0) log.warn('nvidia-smi lists no GPU that work can run on');
      if (names.length > 0) log.info(`Work can run on the GPUs of this machine: ${names.join(', ')}`);
    } catch (error) {
      if (String(error) !== problem)
        log.warn(
          { err: error },
          'the GPUs of this machine cannot be listed: until they can, work runs on its CPU',
        );
      problem = String(error);
      askAgainAt = now() + ASKED_AGAIN_AFTER_MS;
    }
  }

  return {
    read: async (settings: EnvironmentSettings, log: Logger): Promise<Accelerators> => {
      if (first && !found && now() >= askAgainAt) void ask(settings, log);
      first ??= ask(settings, log);
      await first;
      return found ?? noAccelerators;
    },
    areKnown: () => found !== null,
  };
}

const accelerators = rememberAccelerators(({ torchIndex }) => findAccelerators({ torchIndex }));

/** The GPUs of this machine that work can run on. They do not change while we run. */
export async function machineAccelerators(settings: EnvironmentSettings, log: Logger): Promise<Gpu[]> {
  return (await accelerators.read(settings, log)).gpus;
}

/** The same, with those that work cannot run on, and why. */
export function listAccelerators(settings: EnvironmentSettings, log: Logger): Promise<Accelerators> {
  return accelerators.read(settings, log);
}

/** Whether this machine has GPUs that work can run on, or could with another driver. */
export async function hasGpusToPrepare(settings: EnvironmentSettings, log: Logger): Promise<boolean> {
  const { gpus, needDriver } = await accelerators.read(settings, log);
  return gpus.length > 0 || needDriver.length > 0;
}

/** Whether it is certain which GPUs there are; else some may still be found. */
export function areAcceleratorsKnown(): boolean {
  return accelerators.areKnown();
}

/** Whether text is served on this machine's GPUs. */
export async function servesTextOnGpus(settings: EnvironmentSettings, log: Logger): Promise<boolean> {
  const { gpus, withoutVllm } = await accelerators.read(settings, log);
  return gpus.length > 0 && withoutVllm.length === 0 && (await hasLayer(settings, 'vllm'));
}
