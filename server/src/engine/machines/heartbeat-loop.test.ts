import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { connect } from '../../platform/db/database.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { testMachine } from '../testing/test-machine.ts';
import { createHeartbeat } from './heartbeat-loop.ts';
import { findServerUrl } from './queries.ts';

const { db } = await testDatabase();
const machineId = await testMachine(db);
const log = pino({ level: 'silent' });
const join = (roles: string[], at = db, url = 'http://10.0.0.1:4080') => {
  const heartbeat = createHeartbeat({ db: at, log, machineId, roles, url: () => url });
  onFileEnd(heartbeat.close);
  return heartbeat;
};
const rows = () =>
  db.selectFrom('processes').select(['roles', 'since', 'seen_at', 'left_at']).orderBy('since').execute();

test('each process records its heartbeat, and counts the other web processes', async () => {
  const first = join(['web', 'worker']);
  const second = join(['web']);
  const worker = join(['worker']);
  expect((await first.beat()).others).toEqual({ count: 0, lastSeenMs: null, asked: {} });
  expect((await second.beat()).others).toMatchObject({ count: 1 });
  expect((await worker.beat()).others).toMatchObject({ count: 2 });
  await first.beat();
  expect([first.webProcesses(), worker.webProcesses()]).toEqual([2, 2]);
  await second.close();
  expect((await first.beat()).others).toMatchObject({ count: 0 });
  expect((await rows()).map(({ left_at }) => left_at !== null)).toEqual([false, true, false]);
});

test('workloads get the URL of the live process that started last', async () => {
  await db.deleteFrom('processes').execute();
  expect(await findServerUrl(db)).toBeNull();
  const [first, second] = ['http://10.0.0.1:4080', 'http://10.0.0.1:4081'];
  await join(['web'], db, first).beat();
  const younger = join(['web'], db, second);
  await younger.beat();
  await join(['worker']).beat();
  expect(await findServerUrl(db)).toBe(second);
  await younger.close();
  expect(await findServerUrl(db)).toBe(first);
  // If no process is live, use the one seen last, because it may return.
  await sql`update processes set seen_at = seen_at - interval '1 minute' where url = ${first}`.execute(db);
  expect(await findServerUrl(db)).toBe(second);
});

test('each process learns how many other processes send requests to a model server', async () => {
  await db.deleteFrom('processes').execute();
  const asking = (asked: string[]) => {
    const heartbeat = createHeartbeat({ db, log, machineId, roles: ['web'], asked: () => asked });
    onFileEnd(heartbeat.close);
    return heartbeat;
  };
  const servers = ['rye', 'spelt'];
  const [first, second] = [asking(['rye']), asking(servers)];
  await second.beat();
  await asking(['rye']).beat();
  expect((await first.beat()).others.asked).toEqual({ rye: 2, spelt: 1 });
  servers.length = 0;
  await second.beat();
  expect((await first.beat()).others.asked).toEqual({ rye: 1 });
});

test('a starting process deletes the rows of processes that were killed long ago', async () => {
  await db.deleteFrom('processes').execute();
  await join(['web']).beat();
  await sql`update processes set seen_at = seen_at - interval '61 minutes'`.execute(db);
  const next = join(['worker']);
  await next.start();
  expect((await rows()).map(({ roles }) => roles)).toEqual([['worker']]);
  await next.close();
});

test('a heartbeat after a failed one, or after a pause, starts a new span', async () => {
  await db.deleteFrom('processes').execute();
  const heartbeat = join(['web']);
  await heartbeat.beat();
  const [begun] = await rows();
  const earlier = new Date(Date.now() - 1_000);
  await db.updateTable('processes').set({ seen_at: earlier }).execute();
  await heartbeat.beat();
  const [going] = await rows();
  expect(going?.since).toEqual(begun?.since);
  expect(going?.seen_at.getTime()).toBeGreaterThan(earlier.getTime());

  await db
    .updateTable('processes')
    .set({ seen_at: new Date(Date.now() - 7_000) })
    .execute();
  await heartbeat.beat();
  const [after] = await rows();
  expect(after?.since).toEqual(after?.seen_at);

  const away = connect('postgresql://127.0.0.1:1/away');
  onFileEnd(() => away.destroy());
  await expect(join(['web'], away).beat()).rejects.toThrow('ECONNREFUSED');
});
