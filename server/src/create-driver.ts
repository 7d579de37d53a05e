import path from 'node:path';
import type { Driver } from './engine/drivers/driver.ts';
import { createFakeDriver, idleUntilStopped } from './engine/drivers/fake/fake-driver.ts';
import { createLocalDriver, type Program } from './engine/drivers/local/local-driver.ts';
import { hasLayer } from './engine/machine/environment.ts';
import { preparationLabels } from './engine/machine/preparation-ids.ts';
import { findPreparation } from './engine/machine/queries.ts';
import { machineAccelerators } from './engine/machine/read-machine.ts';
import { runtimeCommand } from './engine/machine/runtime-command.ts';
import type { Capacity } from './engine/queue.ts';
import type { WorkloadSpec } from './engine/workload.ts';
import type { Services } from './platform/context.ts';

/**
 * Text servers that may run on the CPU at once. They idle most of the time, and a server is
 * replaced by starting its successor beside it, so there must be room for more than are wanted.
 */
const CPU_DEPLOYMENTS = 4;

/** The driver that the settings name. */
export async function createDriver(services: Pick<Services, 'config' | 'db'>): Promise<Driver> {
  const { config } = services;
  if (config.driver === 'fake') {
    const capacity: Capacity = { 'cpu:run': config.cpuSlots, 'cpu:deployment': CPU_DEPLOYMENTS };
    return createFakeDriver({ capacity, script: idleUntilStopped });
  }
  return createLocalDriver({
    workloadsDir: path.join(config.dataDir, 'workloads'),
    cacheDir: path.join(config.cacheDir, 'inputs'),
    capacity: await localCapacity(config.cpuSlots),
    program: (spec) => findProgram(services, spec),
  });
}

async function localCapacity(cpuSlots: number): Promise<Capacity> {
  const accelerators = await machineAccelerators();
  return {
    'cpu:run': cpuSlots,
    'cpu:deployment': CPU_DEPLOYMENTS,
    ...Object.fromEntries(accelerators.map(({ gpu_type, devices }) => [gpu_type, devices])),
  };
}

/** The runtime, once the part of the Python environment is there that the work needs. */
async function findProgram(
  { config, db }: Pick<Services, 'config' | 'db'>,
  spec: WorkloadSpec,
): Promise<Program | { blocker: string }> {
  const layer = spec.kind === 'train' ? 'training' : 'serving';
  if (!(await hasLayer(config, layer))) {
    const preparation = await findPreparation(db, layer);
    const detail = preparation?.detail ? ` (${preparation.detail})` : '';
    return { blocker: `${preparationLabels[layer]}: this machine is still being prepared${detail}` };
  }
  const { command, args, env } = await runtimeCommand(config);
  const present = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const limit = String(Math.round(config.inputCacheGb * 1024 ** 3));
  return {
    argv: [command, ...args],
    env: { ...Object.fromEntries(present), BAKEHOUSE_INPUT_CACHE_BYTES: limit },
  };
}
