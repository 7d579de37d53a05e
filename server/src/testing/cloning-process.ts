import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { createFakeDriver } from '../engine/drivers/fake/fake-driver.ts';
import { createLog } from '../platform/log.ts';

/* A process that only clones, on the configured database. For tests that kill it. */

const config = readConfig(process.env);
const app = await createApp({
  config,
  databaseUrl: config.databaseUrl ?? '',
  log: createLog(config),
  driver: createFakeDriver({ capacity: { 'cpu:deployment': 4 }, script: async () => 0 }),
  roles: [],
});
app.loops.clones.loop.start();
process.stdout.write('ready\n');
