import path from 'node:path';
import type { Driver } from './engine/drivers/driver.ts';
import { createFakeDriver, idleUntilStopped } from './engine/drivers/fake/fake-driver.ts';
import { inputCacheDir, restrictInputCache } from './engine/drivers/local/input-cache.ts';
import { createLocalDriver, type Program } from './engine/drivers/local/local-driver.ts';
import { hasLayer, neededLayer } from './engine/host/environment/environment.ts';
import { environmentOf } from './engine/host/environment/layers.ts';
import { machineAccelerators, servesTextOnGpus } from './engine/host/machine-accelerators.ts';
import { machineCpu } from './engine/host/machine-cpu.ts';
import { preparationLabels } from './engine/host/preparation/preparation-ids.ts';
import { findPreparation } from './engine/host/preparation/queries.ts';
import { workingGpus } from './engine/host/probe-gpus.ts';
import { runtimeCommand } from './engine/host/runtime-command.ts';
import type { Capacity } from './engine/model/capacity.ts';
import type { SpecKind } from './engine/model/spec-kind.ts';
import { CPU_SERVERS } from './modules/deployments/servers/limits/server-limits.ts';
import type { Services } from './platform/context.ts';

/** Creates the driver for this machine, as selected by the settings. */
export async function createDriver(
  services: Pick<Services, 'config' | 'db' | 'log' | 'sandbox'>,
): Promise<Driver> {
  const { config } = services;
  if (config.driver === 'fake') {
    const capacity: Capacity = { 'cpu:run': config.cpuSlots, 'cpu:deployment': CPU_SERVERS };
    return createFakeDriver({ capacity, script: idleUntilStopped });
  }
  await restrictInputCache(config);
  return createLocalDriver({
    workloadsDir: path.join(config.dataDir, 'workloads'),
    host: config.machineHost,
    sandbox: services.sandbox,
    capacity: () => localCapacity(services),
    program: (spec) => findProgram(services, spec),
  });
}

async function localCapacity({ config, log }: Pick<Services, 'config' | 'log'>): Promise<Capacity> {
  return {
    // The machine accepts work without a GPU only if the cluster does not.
    ...(!config.cluster?.cpuWork && { 'cpu:run': config.cpuSlots, 'cpu:deployment': CPU_SERVERS }),
    cpuMemoryBytes: machineCpu().memory_bytes,
    gpus: await workingGpus(config, await machineAccelerators(config, log)),
    servesTextOnGpus: await servesTextOnGpus(config, log),
  };
}

/** Returns the runtime, or why it cannot run yet, such as a Python environment that is not prepared. */
async function findProgram(
  { config, db }: Pick<Services, 'config' | 'db'>,
  spec: SpecKind,
): Promise<Program | { blocker: string }> {
  const layer = neededLayer(spec);
  if (!(await hasLayer(config, layer))) {
    const preparation = await findPreparation(db, layer);
    const detail = preparation?.detail ? ` (${preparation.detail})` : '';
    return { blocker: `${preparationLabels[layer]}: this machine is still being prepared${detail}` };
  }
  const { command, args, env, reads } = await runtimeCommand(config, environmentOf(layer));
  const present = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const limit = String(Math.round(config.inputCacheGb * 1024 ** 3));
  return {
    argv: [command, ...args],
    reads,
    pull: (specFile) => [command, ...args, 'pull', '--cache', inputCacheDir(config), specFile],
    env: { ...Object.fromEntries(present), BAKEHOUSE_INPUT_CACHE_BYTES: limit },
  };
}
