import type { Machine } from '@bakehouse/contract/machines';
import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import type { Database } from '../../platform/db/database.ts';
import { installationCapacity } from '../machines/installation-capacity.ts';
import { toAccelerators } from '../machines/read-machines.ts';
import type { EnvironmentSettings } from './environment/environment.ts';
import { machineAccelerators, servesTextOnGpus } from './machine-accelerators.ts';
import { machineCpu } from './machine-cpu.ts';
import { preparationIds, preparationLabels } from './preparation/preparation-ids.ts';
import { listPreparations } from './preparation/queries.ts';

/**
 * What work can run on, wherever in the installation it goes, and what this server is still preparing. One that prepares
 * nothing names only what is ready.
 */
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
  const capacity = await installationCapacity(db, async () => ({
    gpus,
    servesTextOnGpus: await servesTextOnGpus(config, log),
  }));
  return {
    accelerators: toAccelerators(capacity),
    serves_text_on_gpus: capacity.servesTextOnGpus ?? false,
    cpu: machineCpu(),
    preparations: preparations.filter(({ state }) => config.prepare || state === 'ready'),
  };
}
