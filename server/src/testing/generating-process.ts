import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { createFakeDriver } from '../engine/drivers/fake/fake-driver.ts';
import { createLog } from '../platform/log.ts';

/*
 * A process that only generates, on the configured database. Its argument sets its clock (default: the real
 * time). Model servers belong to another process. For tests that kill it.
 */

const config = readConfig(process.env);
const [, , at] = process.argv;
const standing = at === undefined ? null : new Date(at);
const app = await createApp({
  config,
  databaseUrl: config.databaseUrl ?? '',
  log: createLog(config),
  driver: createFakeDriver({ capacity: { 'cpu:deployment': 4 }, script: async () => 0 }),
  clock: { now: () => standing ?? new Date() },
  roles: [],
});
app.loops.generations.loop.start();
process.stdout.write('ready\n');
