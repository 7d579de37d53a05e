import type { Report } from '@bakehouse/contract/runtime/report';
import { pino } from 'pino';
import { expect, vi } from 'vitest';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { openEvents } from '../../platform/events/events.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import type { Driver, Launch } from '../drivers/driver.ts';
import { createFakeDriver, type Script } from '../drivers/fake/fake-driver.ts';
import { createEngine, type EngineOptions, registerKinds } from '../engine.ts';
import type { Workload } from '../model/workload.ts';
import type { WorkloadKind, WorkloadKinds } from '../model/workload-kind.ts';
import { acceptReports } from '../reports/accept-reports.ts';
import { authenticateWorkload } from '../reports/attempts.ts';
import { requestWorkload, stopWorkload, type WorkloadRequest } from '../request-workload.ts';
import { findWorkload } from '../workloads.ts';
import { testHeartbeat, testMachine } from './test-machine.ts';
import { testSpec } from './test-spec.ts';

export type Unnumbered = Report extends infer R ? (R extends Report ? Omit<R, 'seq' | 'at'> : never) : never;

/** All reports of a run with two steps. */
export const complete: Unnumbered[] = [
  { type: 'phase', phase: 'training' },
  { type: 'progress', done: 0, total: 2, unit: 'steps', remaining_seconds: null },
  { type: 'metrics', step: 1, values: { loss: 2 } },
  { type: 'metrics', step: 2, values: { loss: 1 } },
  { type: 'log', line: 'done' },
  { type: 'progress', done: 2, total: 2, unit: 'steps', remaining_seconds: 0 },
  { type: 'result', files: [], summary: { loss: 1 } },
];

/** For tests: engines on a separate database, with a clock that tests move. */
export async function testEngine(given?: { db: Database; url: string; machineId: string }) {
  const { db, url } = given ?? (await testDatabase());
  const log = pino({ level: 'silent' });
  const events = await openEvents(url, log);
  onFileEnd(events.close);
  let time = new Date('2026-01-01T00:00:00Z');
  const clock = { now: () => time };
  const machineId = given?.machineId ?? (await testMachine(db));
  const authenticate = authenticateWorkload(db);
  const onResult = vi.fn<NonNullable<WorkloadKind['onResult']>>();
  const onChange = vi.fn<NonNullable<WorkloadKind['onChange']>>();
  const kinds = registerKinds([{ name: 'test', onResult, onChange }]);

  const pass = (seconds: number) => {
    time = new Date(time.getTime() + seconds * 1000);
  };
  const beat = () => testHeartbeat(db, machineId, time);
  /** Advances time while reports could be accepted. */
  async function passListening(seconds: number) {
    for (let left = seconds; left > 0; left -= 5) {
      pass(Math.min(5, left));
      await beat();
    }
  }

  const engineOn = (driver: Driver, more: Partial<EngineOptions> = {}) =>
    createEngine(
      { db, clock, events, log },
      { driver, kinds, machineId, serverUrl: async () => 'http://127.0.0.1:1', ...more },
    );
  function world(
    script: Script,
    capacity: Driver['capacity'] = async () => ({ 'cpu:run': 1, 'cpu:deployment': 2 }),
  ) {
    const driver = { ...createFakeDriver({ capacity: {}, script }), capacity };
    return { driver, engine: engineOn(driver) };
  }

  const request = requester(db, clock);
  const stop = (id: string, drainSeconds?: number) =>
    db.transaction().execute((tx) => stopWorkload(tx, { id, reason: 'Cancelled', drainSeconds, now: time }));
  const see = reader(db);
  const report = reporter({ db, clock, kinds });
  return {
    db,
    log,
    events,
    clock,
    machineId,
    kinds,
    onResult,
    onChange,
    authenticate,
    pass,
    beat,
    passListening,
    engineOn,
    world,
    report,
    request,
    stop,
    see,
    reach: reacher({ see, passListening }),
  };
}

function reader(db: Database) {
  return async (id: string) => {
    const workload = await findWorkload(db, id);
    if (!workload) throw new Error('no such workload');
    return workload;
  };
}

/** Reports like the runtime, continuing from the last accepted sequence number. */
function reporter({ db, clock, kinds }: { db: Database; clock: Clock; kinds: WorkloadKinds }) {
  const authenticate = authenticateWorkload(db);
  return async ({ workloadId, server }: Launch, ...reports: Unnumbered[]) => {
    const caller = await authenticate(workloadId, server.token);
    if (!caller) throw new Error('unauthenticated');
    const ctx = { db, clock, caller };
    const { accepted_seq } = await acceptReports(ctx, { body: { reports: [] } }, kinds);
    const at = clock.now().toISOString();
    const numbered = reports.map((one, index) => ({ ...one, seq: accepted_seq + index + 1, at }));
    return acceptReports(ctx, { body: { reports: numbered } }, kinds);
  };
}

/** Makes passes, `seconds` apart, until the workload is as expected. */
function reacher({
  see,
  passListening,
}: {
  see: (id: string) => Promise<Workload>;
  passListening: (seconds: number) => Promise<void>;
}) {
  return async (
    engine: { pass: () => Promise<void> },
    id: string,
    expected: Partial<Record<keyof Workload, unknown>>,
    seconds = 0,
  ) => {
    await vi.waitFor(
      async () => {
        await passListening(seconds);
        await engine.pass();
        expect(await see(id)).toMatchObject(expected);
      },
      { interval: 10 },
    );
  };
}

/** Requests a workload; defaults to a run on the CPU. */
function requester(db: Database, clock: Clock) {
  return (more: Partial<WorkloadRequest> = {}) =>
    db.transaction().execute((tx) =>
      requestWorkload(tx, {
        userId: null,
        behaviour: 'run',
        kind: 'test',
        title: 'a run',
        spec: testSpec('a run'),
        placement: { accelerator: null, count: 0 },
        now: clock.now(),
        ...more,
      }),
    );
}
