import { pino } from 'pino';
import { expect, test } from 'vitest';
import { connect } from '../../platform/db/database.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { testMachine } from '../testing/test-machine.ts';
import { createHeartbeat } from './heartbeat.ts';

const { db } = await testDatabase();
const machineId = await testMachine(db);
const log = pino({ level: 'silent' });
const join = (roles: string[], at = db) => {
  const heartbeat = createHeartbeat({ db: at, log, machineId, roles });
  onFileEnd(heartbeat.close);
  return heartbeat;
};
const rows = () =>
  db.selectFrom('processes').select(['roles', 'since', 'seen_at', 'left_at']).orderBy('since').execute();

test('each process says that it is there, and counts the others that answer requests', async () => {
  const first = join(['web', 'worker']);
  const second = join(['web']);
  const worker = join(['worker']);
  expect((await first.beat()).others).toEqual({ count: 0, lastSeenMs: null });
  expect((await second.beat()).others).toMatchObject({ count: 1 });
  expect((await worker.beat()).others).toMatchObject({ count: 2 });
  await first.beat();
  expect([first.webProcesses(), worker.webProcesses()]).toEqual([2, 2]);
  await second.close();
  expect((await first.beat()).others).toMatchObject({ count: 0 });
  expect((await rows()).map(({ left_at }) => left_at !== null)).toEqual([false, true, false]);
});

test('a beat after one that failed, or after a pause, begins anew', async () => {
  await db.deleteFrom('processes').execute();
  const heartbeat = join(['web']);
  await heartbeat.beat();
  const [begun] = await rows();
  await heartbeat.beat();
  const [going] = await rows();
  expect(going?.since).toEqual(begun?.since);
  expect(going?.seen_at).not.toEqual(begun?.seen_at);

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
