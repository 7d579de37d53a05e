import type { Report } from '@bakehouse/contract/runtime/report';
import { pino } from 'pino';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { connect } from '../platform/db/database.ts';
import { onFileEnd } from '../testing/on-file-end.ts';
import { testDatabase } from '../testing/test-database.ts';
import { acceptReports } from './accept-reports.ts';
import { authenticateWorkload } from './authenticate-workload.ts';
import type { Driver, Launch } from './drivers/driver.ts';
import { createFakeDriver, idleUntilStopped, type Script } from './drivers/fake/fake-driver.ts';
import { testSpec } from './drivers/test-spec.ts';
import { createEngine, registerKinds } from './engine.ts';
import { beat } from './heartbeat.ts';
import { findWorkload, selectLogLines, selectMetrics } from './queries.ts';
import { removeFiles } from './remove-files.ts';
import { requestWorkload, type WorkloadRequest } from './request-workload.ts';
import { resumeWorkload } from './resume-workload.ts';
import { stopWorkload } from './stop-workload.ts';
import type { Workload } from './workload.ts';
import type { WorkloadKind } from './workload-kind.ts';

type Unnumbered = Report extends infer R ? (R extends Report ? Omit<R, 'seq' | 'at'> : never) : never;

const { db, url } = await testDatabase();
const log = pino({ level: 'silent' });
let time = new Date('2026-01-01T00:00:00Z');
const clock = { now: () => time };
const pass = (seconds: number) => {
  time = new Date(time.getTime() + seconds * 1000);
};
/** The same, while reports could have been taken in. */
async function passListening(seconds: number) {
  for (let left = seconds; left > 0; left -= 10) {
    pass(Math.min(10, left));
    await beat(db, time);
  }
}
const authenticate = authenticateWorkload(db);

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
});

/** Reports as the runtime does: goes on from the last number that the server accepted. */
async function report({ workloadId, server }: Launch, ...reports: Unnumbered[]) {
  const caller = await authenticate(workloadId, server.token);
  if (!caller) throw new Error('unauthenticated');
  const ctx = { db, clock, caller };
  const { accepted_seq } = await acceptReports(ctx, { body: { reports: [] } }, kinds);
  const numbered = reports.map((one, index) => ({
    ...one,
    seq: accepted_seq + index + 1,
    at: time.toISOString(),
  }));
  return acceptReports(ctx, { body: { reports: numbered } }, kinds);
}

const heard = vi.fn<NonNullable<WorkloadKind['onResult']>>();
const changed = vi.fn<NonNullable<WorkloadKind['onChange']>>();
const kinds = registerKinds([{ name: 'test', onResult: heard, onChange: changed }]);

function world(
  script: Script,
  capacity: Driver['capacity'] = async () => ({ 'cpu:run': 1, 'cpu:deployment': 2 }),
) {
  const fake = createFakeDriver({ capacity: {}, script });
  const driver = { ...fake, capacity };
  return { driver, engine: engineOn(driver) };
}
const engineOn = (driver: Driver) =>
  createEngine(
    { db, clock, log },
    { driver, kinds, databaseUrl: url, serverUrl: () => 'http://127.0.0.1:1' },
  );

const request = (more: Partial<WorkloadRequest> = {}) =>
  db.transaction().execute((tx) =>
    requestWorkload(tx, {
      userId: null,
      behaviour: 'run',
      kind: 'test',
      title: 'a run',
      spec: testSpec('a run'),
      placement: { accelerator: null, count: 0 },
      now: time,
      ...more,
    }),
  );
const stop = (id: string) =>
  db.transaction().execute((tx) => stopWorkload(tx, { id, reason: 'Cancelled', now: time }));
const see = async (id: string) => {
  const workload = await findWorkload(db, id);
  if (!workload) throw new Error('no such workload');
  return workload;
};
/** Passes until the workload is as expected; each pass comes `seconds` later than the one before. */
async function reach(
  engine: { pass: () => Promise<void> },
  id: string,
  expected: Partial<Record<keyof Workload, unknown>>,
  seconds = 0,
) {
  await vi.waitFor(
    async () => {
      await passListening(seconds);
      await engine.pass();
      expect(await see(id)).toMatchObject(expected);
    },
    { timeout: 20_000, interval: 10 },
  );
}

const complete: Unnumbered[] = [
  { type: 'phase', phase: 'training' },
  { type: 'progress', done: 0, total: 2, unit: 'steps', remaining_seconds: null },
  { type: 'metrics', step: 1, values: { loss: 2 } },
  { type: 'metrics', step: 2, values: { loss: 1 } },
  { type: 'log', line: 'done' },
  { type: 'progress', done: 2, total: 2, unit: 'steps', remaining_seconds: 0 },
  { type: 'result', files: [], summary: { loss: 1 } },
];

describe('a run', () => {
  test('is queued, started, reports, and completes', async () => {
    heard.mockClear();
    const { engine, driver } = world(async (launch) => {
      await report(launch, ...complete);
      return 0;
    });
    const id = await request();
    expect(await see(id)).toMatchObject({ state: 'queued', attempt: 0 });
    await engine.pass();
    expect(await see(id)).toMatchObject({ attempt: 1 });
    const end = { state: 'completed', step: 2, stepsTotal: 2, restarts: 0, devices: null, acceptedSeq: 7 };
    await reach(engine, id, end);
    expect(heard).toHaveBeenCalledOnce();
    expect(await selectMetrics(db, id)).toMatchObject([{ values: { loss: 2 } }, { values: { loss: 1 } }]);
    expect(await selectLogLines(db, id, 5)).toMatchObject([{ line: 'done' }]);
    expect(driver.running()).toEqual([]);
  });

  test('waits with a reason, and starts when the slot is free', async () => {
    const { engine } = world(idleUntilStopped);
    const first = await request();
    pass(1);
    const second = await request();
    await engine.pass();
    expect(await see(first)).toMatchObject({ state: 'starting' });
    expect(await see(second)).toMatchObject({
      state: 'queued',
      reason: 'Waiting for the CPU, next in line: 1 workload uses what there is.',
    });
    await stop(first);
    await reach(engine, first, { state: 'stopped', reason: 'Cancelled' });
    await reach(engine, second, { state: 'starting', reason: '' });
  });

  test('that is cancelled while it waits ends at once', async () => {
    const { engine } = world(idleUntilStopped, async () => ({}));
    const id = await request();
    await engine.pass();
    await stop(id);
    await engine.pass();
    expect(await see(id)).toMatchObject({ state: 'stopped', attempt: 0 });
  });

  test('hears that it should stop, and ends stopped', async () => {
    const seen: string[] = [];
    const { engine } = world(async (launch, process) => {
      await report(launch, complete[1] as Unnumbered);
      await idleUntilStopped(launch, process);
      seen.push((await see(launch.workloadId)).state);
      seen.push(
        (await report(launch, { type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 })).command,
      );
      return 0;
    });
    const id = await request();
    await reach(engine, id, { state: 'ready' });
    await stop(id);
    await reach(engine, id, { state: 'stopped', outcome: expect.objectContaining({ type: 'stopped' }) });
    expect(seen).toEqual(['stopping', 'stop']);
  });

  test('that fails with a message is not tried again', async () => {
    const { engine } = world(async (launch) => {
      await report(launch, { type: 'failed', message: 'The file holds no rows.' });
      return 1;
    });
    const id = await request();
    await reach(engine, id, { state: 'failed', reason: 'The file holds no rows.' });
    expect(await see(id)).toMatchObject({ restarts: 0, attempt: 1 });
  });

  test('that crashes goes on under the same id after a pause, and is not charged for what was lost', async () => {
    let attempts = 0;
    const { engine } = world(async (launch, process) => {
      attempts += 1;
      if (attempts === 2) return report(launch, ...complete).then(() => 0);
      await report(launch, complete[1] as Unnumbered);
      pass(20);
      await report(launch, { type: 'checkpoint', step: 1 });
      pass(7);
      await report(launch);
      process.print('Segmentation fault');
      return 139;
    });
    const id = await request();
    await reach(engine, id, {
      state: 'queued',
      restarts: 1,
      failures: 1,
      activeSeconds: 20,
      reason:
        'It ended unexpectedly with status 139: Segmentation fault. It goes on from its last checkpoint in 5 s.',
    });
    expect(await selectLogLines(db, id, 9)).toMatchObject([{ line: 'Segmentation fault' }, {}]);
    pass(4);
    await engine.pass();
    expect(await see(id)).toMatchObject({ state: 'queued' });
    pass(2);
    await reach(engine, id, { state: 'completed', attempt: 2, restarts: 1 });
  });

  test('may print and report what no database stores', async () => {
    const { engine } = world(async (launch, process) => {
      await report(
        launch,
        { type: 'phase', phase: 'load\0ing' },
        { type: 'log', line: 'a\0b \ud800' },
        { type: 'metrics', step: 1, values: { 'lo\0ss': 1 } },
      );
      if (launch.attempt === 2) {
        await report(launch, { type: 'failed', message: 'No such column: x\0\udfff.' });
      }
      process.print('Bad bytes: \0\0');
      return 1;
    });
    const id = await request();
    await reach(engine, id, {
      state: 'queued',
      phase: 'loading',
      reason: expect.stringContaining('with status 1: Bad bytes: .'),
    });
    expect(await selectMetrics(db, id)).toMatchObject([{ values: { loss: 1 } }]);
    expect((await selectLogLines(db, id, 9)).map(({ line }) => line)).toEqual([
      'ab \ufffd',
      'Bad bytes: ',
      expect.stringContaining('It goes on'),
    ]);
    pass(6);
    await reach(engine, id, { state: 'failed', reason: 'No such column: x\ufffd.' });
  });

  test('that comes no further is given up', async () => {
    const { engine } = world(async () => 1);
    const id = await request();
    await reach(engine, id, { state: 'failed', attempt: 5 }, 20);
    expect(await see(id)).toMatchObject({ restarts: 4, devices: null });
  });

  test('that cannot be started is tried again', async () => {
    const { driver } = world(idleUntilStopped);
    let broken = true;
    const engine = engineOn({
      ...driver,
      start: async (launch) => {
        if (broken) throw new Error('no space left on device');
        return driver.start(launch);
      },
    });
    const id = await request();
    await engine.pass();
    expect(await see(id)).toMatchObject({
      state: 'queued',
      reason: 'It could not be started: no space left on device. It goes on from its last checkpoint in 5 s.',
    });
    broken = false;
    pass(6);
    await reach(engine, id, { state: 'starting' });
  });
});

describe('files', () => {
  const week = 7 * 24 * 3600;
  const resume = (id: string) => db.transaction().execute((tx) => resumeWorkload(tx, { id, now: time }));

  test('go a week after the end, and not where the owner has resumed it meanwhile', async () => {
    const { driver, engine } = world(idleUntilStopped, async () => ({}));
    const ids = [await request(), await request()];
    for (const id of ids) await stop(id);
    await engine.pass();
    pass(week + 1);
    const removed: string[] = [];
    const [gone, kept] = ids.toSorted() as [string, string];
    const watched = {
      ...driver,
      // Both are listed by then; while the first one's files are deleted, the other one's owner comes.
      remove: async (id: string) => {
        removed.push(id);
        if (removed.length === 1) await resume(id === gone ? kept : gone);
      },
    };
    await removeFiles(db, watched, time);
    expect(removed).toHaveLength(1);
    const other = removed[0] === gone ? kept : gone;
    expect(await see(other)).toMatchObject({ state: 'queued', filesRemovedAt: null });
    expect(await see(removed[0] as string)).toMatchObject({ filesRemovedAt: time });
    await expect(resume(removed[0] as string)).rejects.toThrow('is gone now');
  });
});

describe('reports', () => {
  test('are taken once, in order', async () => {
    const launches: Launch[] = [];
    const { engine } = world(async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    });
    const id = await request();
    await engine.pass();
    const caller = await authenticate(id, launches[0]?.server.token ?? '');
    if (!caller) throw new Error('unauthenticated');
    const send = (...reports: Report[]) => acceptReports({ db, clock, caller }, { body: { reports } }, kinds);
    const say = (seq: number): Report => ({ type: 'log', seq, at: time.toISOString(), line: `line ${seq}` });

    expect(await send(say(1), say(2))).toEqual({ accepted_seq: 2, command: 'continue' });
    expect(await send(say(1), say(2), say(3))).toMatchObject({ accepted_seq: 3 });
    await expect(send(say(5))).rejects.toThrow('Report 4 is missing');
    const both = await Promise.all([send(say(4)), send(say(4))]);
    expect(both).toMatchObject([{ accepted_seq: 4 }, { accepted_seq: 4 }]);
    expect((await selectLogLines(db, id, 9)).map(({ line }) => line)).toEqual([
      'line 1',
      'line 2',
      'line 3',
      'line 4',
    ]);
  });

  test('may name no address for people to be sent to but their own', async () => {
    const launches: Launch[] = [];
    const { engine } = world(async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    });
    const spec: WorkloadRequest['spec'] = {
      ...{ kind: 'serve', task: 'text', engine: 'llamacpp', model_name: 'base', model_file: 'base.gguf' },
      ...{ inputs: [], adapters: [], host: '127.0.0.1', port: 4711, context_tokens: 1, parallel_requests: 1 },
      ...{ threads: 1, gpus: 0 },
    } as const;
    const id = await request({ behaviour: 'deployment', spec });
    await engine.pass();
    const say = (base_url: string) => report(launches[0] as Launch, { type: 'ready', base_url });
    const foreign = [
      'http://169.254.169.254/',
      'http://127.0.0.1:5432',
      'http://127.0.0.1:4711/latest',
      'https://127.0.0.1:4711',
      'http://user@127.0.0.1:4711',
      'http://127.0.0.1.example:4711',
      'no address',
    ];
    for (const address of foreign) await expect(say(address)).rejects.toThrow('base_url must be the address');
    expect(await see(id)).toMatchObject({ baseUrl: null });
    await say('http://127.0.0.1:4711');
    expect(await see(id)).toMatchObject({ state: 'ready', baseUrl: 'http://127.0.0.1:4711' });
  });

  test('of an earlier attempt, a stranger, or after the end are refused', async () => {
    const launches: Launch[] = [];
    const { engine, driver } = world(async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    });
    const id = await request();
    await engine.pass();
    await driver.kill(id, 1);
    await reach(engine, id, { state: 'queued', restarts: 1 });
    pass(6);
    await reach(engine, id, { state: 'starting', attempt: 2 });
    const [first, second] = launches;
    if (!first || !second) throw new Error('two attempts expected');
    await expect(report(first)).rejects.toThrow('unauthenticated');
    expect(await report(second)).toMatchObject({ command: 'continue' });
    expect(await authenticate('no-uuid', 'x')).toBeNull();
    await stop(id);
    await reach(engine, id, { state: 'stopped' });
    await expect(report(second)).rejects.toMatchObject({ code: 'gone' });
  });

  test('are announced once for each batch that shows something', async () => {
    const launches: Launch[] = [];
    const { engine } = world(async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    });
    await request();
    await engine.pass();
    const [launch] = launches;
    if (!launch) throw new Error('no launch');
    changed.mockClear();
    await report(launch, ...complete.slice(0, 6));
    expect(changed).toHaveBeenCalledTimes(1);
    await report(launch, { type: 'checkpoint', step: 1 });
    await report(launch);
    expect(changed).toHaveBeenCalledTimes(1);
  });

  test('time is counted from report to report, and long silence is not', async () => {
    const launches: Launch[] = [];
    const { engine } = world(async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    });
    const id = await request();
    await engine.pass();
    const [launch] = launches;
    if (!launch) throw new Error('no launch');
    pass(100);
    await report(launch, complete[1] as Unnumbered);
    expect(await see(id)).toMatchObject({ state: 'ready', activeSeconds: 0 });
    pass(10);
    await report(launch);
    pass(600);
    await report(launch);
    expect(await see(id)).toMatchObject({ activeSeconds: 40 });
  });
});

describe('a deployment', () => {
  test('is kept up: degraded while silent, restarted when it dies, stopped when asked', async () => {
    const launches: Launch[] = [];
    const { engine, driver } = world(async (launch, process) => {
      launches.push(launch);
      process.print(`listening ${launches.length}`);
      await report(launch, { type: 'ready', base_url: `http://127.0.0.1:${launches.length}` });
      return idleUntilStopped(launch, process);
    });
    const id = await request({ behaviour: 'deployment' });
    await reach(engine, id, { state: 'ready', baseUrl: 'http://127.0.0.1:1' });
    await passListening(60);
    await reach(engine, id, { state: 'degraded' });
    await report(launches[0] as Launch);
    expect(await see(id)).toMatchObject({ state: 'ready', reason: '' });
    await driver.kill(id, 1);
    await reach(engine, id, { state: 'queued', baseUrl: null });
    pass(6);
    await reach(engine, id, { state: 'ready', baseUrl: 'http://127.0.0.1:2', restarts: 1 });
    await stop(id);
    await reach(engine, id, { state: 'stopped' });
    // What it prints is its log, and stays.
    const lines = (await selectLogLines(db, id, 9)).map(({ line }) => line);
    expect(lines.filter((line) => line.startsWith('listening'))).toEqual(['listening 1', 'listening 2']);
  });

  test('that has answered comes back after any trouble of its machine, and says meanwhile when', async () => {
    let broken = false;
    const { engine, driver } = world(async (launch, process) => {
      if (broken) {
        await report(launch, { type: 'failed', message: 'There is no GPU.' });
        return 1;
      }
      await report(launch, { type: 'ready', base_url: 'http://127.0.0.1:1' });
      return idleUntilStopped(launch, process);
    });
    const id = await request({ behaviour: 'deployment' });
    await reach(engine, id, { state: 'ready' });
    broken = true;
    await driver.kill(id, 1);
    for (const seconds of [5, 10, 20, 40, 80, 160, 300, 300]) {
      await reach(engine, id, {
        state: 'queued',
        endedAt: null,
        reason: expect.stringContaining(`It starts again in ${seconds} s.`),
      });
      pass(seconds);
    }
    broken = false;
    await reach(engine, id, { state: 'ready', reason: '' });
  });

  test('that has never answered is given up', async () => {
    const { engine } = world(async () => 1);
    const id = await request({ behaviour: 'deployment' });
    await reach(engine, id, { state: 'failed', attempt: 5 }, 20);
    expect(await see(id)).toMatchObject({ restarts: 4, readyAt: null });
  });
});

describe('a gap', () => {
  const unharmed = Array.from({ length: 2 }, () => ({ attempt: 1, failures: 0, alive: 2 }));

  /** A run and a deployment that are at work, and how they report. */
  async function working() {
    const launches: Launch[] = [];
    const { engine, driver } = world(async (launch, process) => {
      launches.push(launch);
      await report(launch, complete[1] as Unnumbered, { type: 'ready', base_url: 'http://127.0.0.1:1' });
      return idleUntilStopped(launch, process);
    });
    await beat(db, time);
    const ids = [await request(), await request({ behaviour: 'deployment' })];
    for (const id of ids) await reach(engine, id, { state: 'ready' });
    await passListening(30);
    await Promise.all(launches.map((launch) => report(launch)));
    /** What a pass leaves of them. */
    const afterPass = async () => {
      await engine.pass();
      const now = await Promise.all(ids.map(see));
      return now.map(({ attempt, failures }) => ({ attempt, failures, alive: driver.running().length }));
    };
    return { engine, driver, ids, launches, afterPass };
  }

  test.each([16, 60, 332, 360, 3600])(
    'of %i s, in which no report could be taken in, harms nothing that reports again after it',
    async (seconds) => {
      const { launches, afterPass } = await working();
      pass(seconds);
      // The reconciler may be the first to look, or another process that never noticed.
      expect(await afterPass()).toEqual(unharmed);
      await beat(db, time);
      expect(await afterPass()).toEqual(unharmed);
      await passListening(290);
      expect(await afterPass()).toEqual(unharmed);
      await Promise.all(launches.map((launch) => report(launch)));
      expect(await afterPass()).toEqual(unharmed);
    },
  );

  test('does not save what stays silent after it', async () => {
    const { engine, ids } = await working();
    pass(360);
    await beat(db, time);
    await passListening(330);
    await engine.pass();
    await engine.pass();
    const states = (await Promise.all(ids.map(see))).map(({ attempt, failures }) => ({ attempt, failures }));
    expect(states).toEqual([
      { attempt: 1, failures: 1 },
      { attempt: 1, failures: 1 },
    ]);
  });

  test('of the claim: another server that was let in leaves alone what works elsewhere', async () => {
    const { engine, driver, ids, launches, afterPass } = await working();
    const elsewhere = createFakeDriver({ capacity: {}, script: idleUntilStopped });
    const other = engineOn(elsewhere);
    for (let round = 0; round < 20; round += 1) {
      await passListening(20);
      await Promise.all(launches.map((launch) => report(launch)));
      await other.pass();
      expect(await afterPass()).toEqual(unharmed);
    }
    await other.shutdown();
    expect(await afterPass()).toEqual(unharmed);
    expect(await see(ids[0] as string)).toMatchObject({ interrupted: false });
    // It may be stopped from there: it hears so with its next report.
    await stop(ids[0] as string);
    await engineOn(elsewhere).pass();
    expect(await see(ids[0] as string)).toMatchObject({ state: 'stopping' });
    const launch = launches.find(({ workloadId }) => workloadId === ids[0]);
    expect(await report(launch as Launch)).toMatchObject({ command: 'stop' });
    expect(elsewhere.running()).toEqual([]);
    await driver.stop(ids[0] as string, 1);
    await reach(engine, ids[0] as string, { state: 'stopped' });
  });

  test('of the claim fences the server: it looks at nothing until the claim is back', async () => {
    const { driver } = world(idleUntilStopped);
    let isHeld = false;
    const engine = createEngine(
      { db, clock, log },
      { driver, kinds, databaseUrl: url, serverUrl: () => '', mayWork: () => isHeld },
    );
    const id = await request();
    await engine.pass();
    expect(await see(id)).toMatchObject({ state: 'queued', attempt: 0 });
    isHeld = true;
    await reach(engine, id, { state: 'starting' });
  });
});

describe('the server', () => {
  test('waits for the next tick while the database is away', async () => {
    const away = connect('postgresql://127.0.0.1:1/away');
    const driver = { ...world(idleUntilStopped).driver, endsWithServer: false };
    const engine = createEngine(
      { db: away, clock, log },
      { driver, kinds, databaseUrl: url, serverUrl: () => '' },
    );
    onFileEnd(async () => {
      await engine.shutdown();
      await away.destroy();
    });
    await expect(engine.pass()).rejects.toThrow('ECONNREFUSED');
  });

  test('ends in good order: work is saved, nothing counts as a failure, and all goes on', async () => {
    let saved = 0;
    const script: Script = async (launch, process) => {
      await report(launch, complete[1] as Unnumbered);
      await idleUntilStopped(launch, process);
      saved += 1;
      return 0;
    };
    const { engine, driver } = world(script);
    const id = await request();
    await engine.start();
    await vi.waitFor(async () => expect(await see(id)).toMatchObject({ state: 'ready' }));
    await engine.shutdown();
    expect(saved).toBe(1);
    expect(driver.running()).toEqual([]);

    const next = engineOn(driver);
    pass(10);
    await next.pass();
    expect(await see(id)).toMatchObject({ attempt: 2, restarts: 1, failures: 0 });
    expect(driver.running()).toHaveLength(1);
  });

  test('is woken by a request, without waiting for a tick', async () => {
    const { engine, driver } = world(idleUntilStopped);
    await engine.start();
    await request();
    await vi.waitFor(() => expect(driver.running()).toHaveLength(1));
    await engine.shutdown();
  });

  // Where a server dies: its call to the machine never comes back. 'before': nothing was done yet;
  // 'after': all was done and nobody could record it.
  const deaths: [keyof Driver & ('observe' | 'start' | 'stop' | 'kill'), 'before' | 'after'][] = [
    ['observe', 'after'],
    ['start', 'before'],
    ['start', 'after'],
    ['stop', 'before'],
    ['stop', 'after'],
    ['kill', 'before'],
    ['kill', 'after'],
  ];
  test.each(deaths)('may die in %s (%s it was done) and another goes on', async (method, when) => {
    const script: Script = async (launch, process) => {
      await report(launch, { type: 'ready', base_url: 'http://127.0.0.1:1' });
      // Leaves only when it is killed.
      const signal = method === 'kill' ? new AbortController().signal : process.stop;
      return idleUntilStopped(launch, { ...process, stop: signal });
    };
    const { driver } = world(script);
    const reached = Promise.withResolvers<void>();
    const stuck = Promise.withResolvers<void>();
    const call = (...args: never[]) => (driver[method] as (...args: never[]) => Promise<unknown>)(...args);
    const dying = engineOn({
      ...driver,
      [method]: async (...args: never[]) => {
        const answer = when === 'after' ? await call(...args) : undefined;
        reached.resolve();
        await stuck.promise;
        return when === 'before' ? call(...args) : answer;
      },
    });
    const goneOn = engineOn(driver);
    const id = await request({ behaviour: 'deployment' });
    if (method !== 'start') {
      await reach(goneOn, id, { state: 'ready' });
      if (method === 'stop' || method === 'kill') await stop(id);
      if (method === 'kill') await reach(goneOn, id, { state: 'stopping' });
      await passListening(60);
    }
    const lost = dying.pass();
    await reached.promise;

    // Another server takes over once the lease has run out, and brings everything to its end.
    if (method === 'observe' || method === 'start') {
      pass(16);
      // What was started is adopted; what was not is begun anew.
      const attempt = method === 'start' && when === 'before' ? 2 : 1;
      await reach(goneOn, id, { baseUrl: 'http://127.0.0.1:1', attempt, endedAt: null });
      expect(driver.running()).toHaveLength(1);
      await stop(id);
    }
    await reach(goneOn, id, { state: 'stopped' }, 16);
    expect(driver.running()).toEqual([]);

    // The first one was not dead but slow: it wakes up, and changes nothing any more.
    const before = await see(id);
    stuck.resolve();
    await lost;
    expect(await see(id)).toEqual(before);
    expect(driver.running()).toEqual([]);
  });
});
