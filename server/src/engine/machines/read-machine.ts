import type { Machine } from '@bakehouse/contract/machines';
import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import type { Database } from '../../platform/db/database.ts';
import type { EnvironmentSettings } from '../host/environment/environment.ts';
import { hasGpusToPrepare, machineAccelerators, servesTextOnGpus } from '../host/machine-accelerators.ts';
import { machineCpu } from '../host/machine-cpu.ts';
import { listPreparations } from '../host/preparation/list-preparations.ts';
import { installationCapacity } from './installation-capacity.ts';
import { toAccelerators } from './read-machines.ts';

/** Returns the machine's and the cluster's resources, and the machine's open preparation steps. */
export async function readMachine({
  config,
  db,
  log,
}: {
  config: EnvironmentSettings & Pick<Config, 'prepare'>;
  db: Database;
  log: Logger;
}): Promise<Machine> {
  const gpus = await machineAccelerators(config, log);
  const capacity = await installationCapacity(db, async () => ({
    gpus,
    servesTextOnGpus: await servesTextOnGpus(config, log),
  }));
  return {
    accelerators: toAccelerators(capacity),
    serves_text_on_gpus: capacity.servesTextOnGpus ?? false,
    cpu: machineCpu(),
    preparations: await listPreparations({ config, db }, { hasGpus: await hasGpusToPrepare(config, log) }),
  };
}
