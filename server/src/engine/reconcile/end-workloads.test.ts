import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { connect, type Database } from '../../platform/db/database.ts';
import { openEvents } from '../../platform/events/events.ts';
import { noSandbox } from '../../platform/sandbox/sandbox.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { testDatabase } from '../../testing/test-database.ts';
import type { Driver } from '../drivers/driver.ts';
import { createFakeDriver } from '../drivers/fake/fake-driver.ts';
import { createLocalDriver } from '../drivers/local/local-driver.ts';
import { createEngine, registerKinds } from '../engine.ts';
import { requestWorkload } from '../request-workload.ts';
import { testMachine } from '../testing/test-machine.ts';
import { testSpec } from '../testing/test-spec.ts';
import { findWorkload } from '../workloads.ts';
import { endWorkloads } from './end-workloads.ts';

// Killed servers and their workloads, as real processes.
const { db, url } = await testDatabase();
const home = await temporaryFolder();
const machineId = await testMachine(db);
const log = pino({ level: 'silent' });
const events = await openEvents(url, log);
onFileEnd(events.close);
const clock = { now: () => new Date() };
const source = (file: string) => JSON.stringify(path.resolve(import.meta.dirname, '../..', file));
const argv = [process.execPath, fileURLToPath(import.meta.resolve('../testing/scripted-workload.ts'))];

afterEach(() => db.deleteFrom('workloads').execute());

function localDriver() {
  const driver = createLocalDriver({
    workloadsDir: path.join(home, 'workloads'),
    host: '127.0.0.1',
    sandbox: noSandbox(path.join(home, 'lent')),
    capacity: async () => ({ 'cpu:run': 9, 'cpu:deployment': 9 }),
    program: async () => ({ argv, env: {}, reads: [], pull: null }),
  });
  onFileEnd(async () => {
    for (const id of await driver.list()) await driver.remove(id);
  });
  return driver;
}

function serverOn(database: Database, driver: Driver = localDriver()) {
  const kinds = registerKinds([]);
  return createEngine(
    { db: database, clock, events, log },
    { driver, kinds, machineId, serverUrl: async () => '' },
  );
}

/** A server that starts waiting work and is killed right after that. */
async function startAndDie(): Promise<void> {
  const program = `
    import { pino } from 'pino';
    import { connect } from ${source('platform/db/database.ts')};
    import { openEvents } from ${source('platform/events/events.ts')};
    import { noSandbox } from ${source('platform/sandbox/sandbox.ts')};
import { createFakeDriver } from '../drivers/fake/fake-driver.ts';
import { createLocalDriver } from ${source('engine/drivers/local/local-driver.ts')};
    import { createEngine, registerKinds } from ${source('engine/engine.ts')};
    const log = pino({ level: 'silent' });
    const driver = createLocalDriver({
      workloadsDir: ${JSON.stringify(path.join(home, 'workloads'))},
      host: '127.0.0.1',
      sandbox: noSandbox(${JSON.stringify(path.join(home, 'lent'))}),
      capacity: async () => ({ 'cpu:run': 9, 'cpu:deployment': 9 }),
      program: async () => ({ argv: ${JSON.stringify(argv)}, env: {}, reads: [], pull: null }),
    });
    const url = ${JSON.stringify(url)};
    await createEngine(
      { db: connect(url), clock: { now: () => new Date() }, events: await openEvents(url, log), log },
      { driver, kinds: registerKinds([]), machineId: ${JSON.stringify(machineId)}, serverUrl: async () => '' },
    ).pass();
    process.kill(process.pid, 'SIGKILL');`;
  const server = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: 'inherit',
    cwd: import.meta.dirname,
  });
  expect(await once(server, 'exit')).toEqual([null, 'SIGKILL']);
}

async function request(behaviour: 'run' | 'deployment'): Promise<string> {
  return db.transaction().execute((tx) =>
    requestWorkload(tx, {
      userId: null,
      behaviour,
      kind: 'test',
      title: 'idle',
      spec: testSpec('idle'),
      placement: { accelerator: null, count: 0 },
      now: clock.now(),
    }),
  );
}

/** A working run and model server whose server was killed. */
async function orphans(): Promise<string[]> {
  const ids = [await request('run'), await request('deployment')];
  await startAndDie();
  const driver = localDriver();
  await vi.waitFor(async () => {
    for (const id of ids) expect(await driver.logs(id, 5)).toEqual(['train idle']);
  });
  expect(await driver.listAlive()).toHaveLength(2);
  return ids;
}

test.each([true, false])(
  'work of a killed server ends with the next server, which has adopted it: %s',
  async (isAdopted) => {
    const ids = await orphans();
    const server = serverOn(db);
    if (isAdopted) await server.pass();
    await server.shutdown();
    expect(await localDriver().listAlive()).toEqual([]);
    for (const id of ids) {
      expect(await localDriver().logs(id, 1)).toEqual(['saved']);
      expect(await findWorkload(db, id)).toMatchObject({ attempt: 1, interrupted: true, endedAt: null });
    }
  },
);

test('it also ends if the database is unavailable by then', async () => {
  const ids = await orphans();
  const away = connect('postgresql://127.0.0.1:1/away');
  onFileEnd(() => away.destroy());
  await serverOn(away).shutdown();
  expect(await localDriver().listAlive()).toEqual([]);
  for (const id of ids) expect(await localDriver().logs(id, 1)).toEqual(['saved']);
});

test('an attempt that another server has replaced is not marked as interrupted', async () => {
  const driver = createFakeDriver({
    capacity: { 'cpu:run': 9 },
    script: async (_launch, { stop }) => {
      await once(stop, 'abort');
      return 0;
    },
  });
  const [followed, ours] = [await request('run'), await request('run')];
  await serverOn(db, driver).pass();
  const away = connect('postgresql://127.0.0.1:1/away');
  onFileEnd(() => away.destroy());
  let isBack = false;
  await endWorkloads({
    get db() {
      return isBack ? db : away;
    },
    driver: {
      ...driver,
      stop: async (id, attempt) => {
        await driver.stop(id, attempt);
        if (id === followed)
          await db.updateTable('workloads').set({ attempt: 2 }).where('id', '=', id).execute();
        isBack = true;
      },
    },
    machineId,
    log,
  });
  expect(await findWorkload(db, followed)).toMatchObject({ attempt: 2, interrupted: false });
  expect(await findWorkload(db, ours)).toMatchObject({ attempt: 1, interrupted: true });
});
