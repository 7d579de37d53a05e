import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { createFakeDriver } from '../engine/drivers/fake/fake-driver.ts';
import { createLog } from '../platform/log.ts';

/*
 * For tests that kill it: a process that only generates, on the configured database, at the time of its
 * argument (default: the real time). Model servers belong to another process.
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
