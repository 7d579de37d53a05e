import { type RawBuilder, sql } from 'kysely';
import { pino } from 'pino';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openEvents } from '../../platform/events/events.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { recordingDatabase } from '../../testing/recording-database.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { createFakeDriver, idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { createEngine, registerKinds } from '../engine.ts';
import { findInput } from '../files/file-queries.ts';
import { idleCpu } from '../host/machine-cpu.ts';
import { recordMachineHeartbeat } from '../machines/queries.ts';
import { readOffer } from '../machines/read-machines.ts';
import { acceptReports } from '../reports/accept-reports.ts';
import { requestWorkload, stopWorkload } from '../request-workload.ts';
import { testAttempt } from '../testing/test-attempt.ts';
import { testMachine } from '../testing/test-machine.ts';
import { testSpec } from '../testing/test-spec.ts';
import { createScheduler } from './schedule.ts';

const WAITING = 1000;
const now = new Date('2026-01-08T00:00:00Z');
const { url } = await testDatabase();
const { db, asked } = recordingDatabase(url);
const log = pino({ level: 'silent' });
const events = await openEvents(url, log);
onFileEnd(events.close);
const onReasons = vi.fn(async () => undefined);
const onChange = vi.fn(async () => undefined);
const machineId = await testMachine(db);
const kinds = registerKinds([{ name: 'test', onReasons, onChange }]);
const driver = createFakeDriver({ capacity: { 'cpu:run': 1 }, script: idleUntilStopped });

/** A spec as long as that of a run over many pictures. */
const longSpec = testSpec('x'.repeat(100_000));
const isLong = (rows: unknown[]) => JSON.stringify(rows).includes('xxxxxxxxxx');

beforeAll(async () => {
  await sql`
    insert into workloads (behaviour, kind, title, spec, accelerator_count, expected_seconds, check_at, created_at,
      queued_at, not_before)
    select 'run', 'test', 'run ' || n, ${JSON.stringify(testSpec('short'))}::jsonb, 0, 60, at, at, at, at
    from (select n, ${now}::timestamptz + n * interval '1 ms' as at from generate_series(1, ${WAITING}) n) waiting`.execute(
    db,
  );
  await sql`analyze workloads`.execute(db);
});

beforeEach(async () => {
  await recordMachineHeartbeat(db, machineId, await readOffer(driver, { cpu, load: idleCpu() }));
});

const cpu = { cores: 1, memory_bytes: 1 };
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const schedule = createScheduler({ db, machineId, kinds });
const look = (seconds: number) => schedule(at(seconds));

test('advancing a long queue takes a handful of statements', async () => {
  asked.length = 0;
  expect(await look(2)).toBe(1);
  expect(asked.length).toBeLessThan(15);
  expect(onReasons).toHaveBeenCalledOnce();
  expect(onChange).toHaveBeenCalledOnce();
  const { rows } = await sql<{ reason: string }>`
    select reason from workloads where state = 'queued' order by queued_at`.execute(db);
  expect(rows).toHaveLength(WAITING - 1);
  expect(rows[0]?.reason).toContain('next in line');
  expect(rows.at(-1)?.reason).toContain(`number ${WAITING - 1} in line`);

  // The first workload now holds the slot, which changes the reasons of all others. After that, nothing is
  // written or locked.
  expect(await look(3)).toBe(0);
  asked.length = 0;
  onReasons.mockClear();
  expect(await look(4)).toBe(0);
  expect(asked.filter(({ text }) => /^update|for update/.test(text))).toEqual([]);
  expect(onReasons).not.toHaveBeenCalled();
});

describe('an unchanged queue', () => {
  /** Number of rows returned by each statement of a scheduling pass. */
  const rowsOf = async (seconds: number) => {
    asked.length = 0;
    await look(seconds);
    return asked.map(({ rows }) => rows.length);
  };
  /** Makes passes until one finds no changes. */
  const settle = async (seconds: number) => {
    await look(seconds);
    await look(seconds);
    expect(await rowsOf(seconds)).toEqual([1]);
  };
  const change = (what: RawBuilder<unknown>) => () => what.execute(db);
  const one = sql`id = (select id from workloads where state = 'queued' and wanted = 'running' order by queued_at desc limit 1)`;
  const held = sql`id = (select id from workloads where devices is not null)`;

  test('is read as one row, even if the load of the CPU has changed', async () => {
    await settle(20);
    const load = { ...idleCpu(), busyThreads: 7 };
    await recordMachineHeartbeat(db, machineId, await readOffer(driver, { cpu, load }));
    expect(await rowsOf(21)).toEqual([1]);
    // The whole queue is read again after ten seconds, because estimates change.
    expect(await rowsOf(29)).toEqual([1]);
    expect((await rowsOf(30)).length).toBeGreaterThan(1);
  });

  test.each([
    [
      'a workload leaves it',
      change(sql`update workloads set wanted = 'stopped', stop_requested_at = ${at(40)}, stop_reason = 'Enough'
        where ${one}`),
    ],
    ['a workload has to pause', change(sql`update workloads set not_before = ${at(3600)} where ${one}`)],
    [
      'the pace of running work is known',
      change(sql`
      update workloads set unit = 'steps', remaining_seconds = 600, last_report_at = ${at(40)} where ${held}`),
    ],
    [
      'a slot becomes free',
      change(sql`update workloads set state = 'stopped', ended_at = ${at(40)}, devices = null where ${held}`),
    ],
    [
      'a machine offers more',
      change(sql`
      update machines set offer = jsonb_set(offer, '{capacity,cpu:run}', '2')`),
    ],
    ['a machine disappears', change(sql`update machines set seen_at = seen_at - interval '1 minute'`)],
  ])('is read again when %s', async (_what, act) => {
    await settle(40);
    await act();
    expect((await rowsOf(40)).length).toBeGreaterThan(1);
  });

  test('is read again when a pause has ended', async () => {
    await sql`update workloads set not_before = ${at(55)} where ${one}`.execute(db);
    await settle(54);
    expect((await rowsOf(55)).length).toBeGreaterThan(1);
  });
});

test('a spec is read to start its workload, and never again', async () => {
  const id = await db.transaction().execute((tx) =>
    requestWorkload(tx, {
      userId: null,
      behaviour: 'deployment',
      kind: 'test',
      title: 'long',
      spec: longSpec,
      placement: { accelerator: null, count: 0 },
      now,
    }),
  );
  asked.length = 0;
  const engine = createEngine(
    { db, clock: { now: () => now }, events, log },
    {
      driver: { ...driver, capacity: async () => ({ 'cpu:deployment': 1 }) },
      kinds,
      machineId,
      serverUrl: async () => '',
    },
  );
  await engine.pass();
  expect(driver.running()).toHaveLength(1);
  const caller = await testAttempt(db, id);
  await acceptReports({ db, clock: { now: () => now }, caller }, { body: { reports: [] } }, kinds);
  await db.transaction().execute((tx) => stopWorkload(tx, { id, reason: 'Enough', now }));
  const answers = asked.filter(({ rows }) => isLong(rows)).map(({ text }) => text);
  expect(answers).toEqual([expect.stringMatching(/^select "spec" from "workloads"/)]);
});

test('scheduling reads no spec', async () => {
  asked.length = 0;
  await createScheduler({ db, machineId, kinds })(at(60));
  expect(asked.some(({ text }) => text.includes('spec_kind'))).toBe(true);
  expect(asked.filter(({ text }) => /\bspec\s*->|"spec"/.test(text))).toEqual([]);
});

test('finds each input of a workload by an index, without reading its spec', async () => {
  const files = Array.from({ length: 2000 }, (_, n) => ({
    path: `${n}.png`,
    sha256: n.toString(16).padStart(64, '0'),
    size_bytes: n,
  }));
  const id = await db.transaction().execute((tx) =>
    requestWorkload(tx, {
      userId: null,
      behaviour: 'run',
      kind: 'test',
      title: 'pictures',
      spec: testSpec('pictures', [{ name: 'dataset', files: [...files, ...files.slice(0, 1)] }]),
      placement: { accelerator: null, count: 0 },
      now,
    }),
  );
  await sql`analyze workload_inputs`.execute(db);
  asked.length = 0;
  expect(await findInput(db, id, files[1999]?.sha256 ?? '')).toBe(1999);
  expect(await findInput(db, id, 'f'.repeat(64))).toBeNull();
  const [query] = asked;
  expect(query?.text).not.toContain('"workloads"');
  const { rows } = await db.executeQuery<Record<'QUERY PLAN', string>>({
    ...sql`select 1`.compile(db),
    sql: `explain (costs off) ${query?.text}`,
    parameters: query?.values ?? [],
  });
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('workload_inputs_pkey');
});

test('a batch of points is one statement, and merges duplicate steps', async () => {
  const { rows: waiting } = await sql<{ id: string }>`
    select id from workloads where title = 'run 500'`.execute(db);
  const workloadId = waiting[0]?.id ?? '';
  const reportedAt = now.toISOString();
  const reports = Array.from({ length: 500 }, (_, n) => ({
    type: 'metrics' as const,
    seq: n + 1,
    at: reportedAt,
    step: Math.floor(n / 2),
    values: { [n % 2 === 0 ? 'loss' : 'eval_loss']: n },
  }));
  asked.length = 0;
  const caller = await testAttempt(db, workloadId);
  await acceptReports({ db, clock: { now: () => now }, caller }, { body: { reports } }, kinds);
  expect(asked.filter(({ text }) => text.includes('workload_metrics'))).toHaveLength(1);
  const { rows } = await sql<{ step: number; values: object }>`
    select step, values from workload_metrics where workload_id = ${workloadId} order by step`.execute(db);
  expect(rows).toHaveLength(250);
  expect(rows[7]).toEqual({ step: 7, values: { loss: 14, eval_loss: 15 } });
});
