import { gpuLabel } from '@bakehouse/contract/labels';
import type { Machine } from '@bakehouse/contract/machine';
import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import type { Database } from '../../platform/db/database.ts';
import type { EnvironmentSettings } from './environment/environment.ts';
import { machineAccelerators, servesTextOnGpus } from './machine-accelerators.ts';
import { machineCpu } from './machine-cpu.ts';
import { preparationIds, preparationLabels } from './preparation/preparation-ids.ts';
import { listPreparations } from './preparation/queries.ts';

/** What this machine has, and what the server is still preparing. One that prepares nothing names only what is ready. */
export async function readMachine({
  config,
  db,
  machineId,
  log,
}: {
  config: EnvironmentSettings & Pick<Config, 'prepare'>;
  db: Database;
  machineId: string;
  log: Logger;
}): Promise<Machine> {
  const gpus = await machineAccelerators(log);
  const rows = new Map((await listPreparations(db, machineId)).map((row) => [row.id, row]));
  const preparations = preparationIds({ hasGpus: gpus.length > 0 }).map((id) => {
    const row = rows.get(id);
    return {
      id,
      label: preparationLabels[id],
      state: row?.state ?? 'waiting',
      detail: row?.detail ?? '',
      progress: row?.progress ?? null,
    };
  });
  return {
    accelerators: gpus.map((gpu) => ({
      gpu_type: gpu.type,
      label: gpuLabel(gpu.type),
      memory_bytes: gpu.memoryBytes,
      count: gpu.devices.length,
    })),
    serves_text_on_gpus: await servesTextOnGpus(config, log),
    cpu: machineCpu(),
    preparations: preparations.filter(({ state }) => config.prepare || state === 'ready'),
  };
}
