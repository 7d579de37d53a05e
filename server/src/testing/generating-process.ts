import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { createFakeDriver } from '../engine/drivers/fake/fake-driver.ts';
import { createLog } from '../platform/log.ts';

/*
 * A process of killed-pictures.test.ts that only generates, on the database of the settings, at the time of its argument:
 * model servers are another process's.
 */

const config = readConfig(process.env);
const now = new Date(process.argv[2] ?? '');
const app = await createApp({
  config,
  databaseUrl: config.databaseUrl ?? '',
  log: createLog(config),
  driver: createFakeDriver({ capacity: { 'cpu:deployment': 4 }, script: async () => 0 }),
  clock: { now: () => now },
  roles: [],
});
app.generationLoop.start();
process.stdout.write('ready\n');
