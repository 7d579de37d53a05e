import { sql } from 'kysely';
import pg from 'pg';
import { type Logger, pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase, untilWaiting } from '../../testing/test-database.ts';
import { claimMachine } from './claim-machine.ts';

const { db, url } = await testDatabase();

function listeningLog(): { log: Logger; said: string[] } {
  const said: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void said.push(JSON.parse(line).msg) });
  return { log, said };
}

async function claim() {
  const { log, said } = listeningLog();
  const claimed = await claimMachine(url, log);
  onFileEnd(claimed.release);
  return { ...claimed, said };
}

/** Like a restart of PostgreSQL. */
const breakConnections = () =>
  sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'bakehouse machine' and datname = current_database()`.execute(db);

test('only one server claims the machine; the next one may after a release', async () => {
  const first = await claim();
  expect(first.isHeld()).toBe(true);
  await expect(claimMachine(url, pino({ level: 'silent' }))).rejects.toThrow('Another Bakehouse server');
  await first.release();
  const second = await claim();
  expect(second.isHeld()).toBe(true);
  await second.release();
  expect(first.said).toEqual([]);
});

test('a claim whose connection breaks is lost immediately, logged, and reacquired', async () => {
  const server = await claim();
  await breakConnections();
  await vi.waitFor(() => expect(server.isHeld()).toBe(false));
  await vi.waitFor(() => expect(server.isHeld()).toBe(true));
  expect(server.said).toEqual([
    expect.stringContaining('lost the claim'),
    'reacquired the claim on this machine',
  ]);
  await server.release();
});

test('if another server acquires the lost claim, the first one waits until that server ends', async () => {
  const first = await claim();
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  // The other server waits for the lock, so it gets the lock as soon as the first server loses it.
  const taken = other.query("select pg_advisory_lock(hashtextextended('bakehouse machine', 0))");
  await untilWaiting(db);
  await breakConnections();
  await taken;
  await vi.waitFor(() => expect(first.said).toContainEqual(expect.stringContaining('waiting until it ends')));
  expect(first.isHeld()).toBe(false);
  await other.end();
  await vi.waitFor(() => expect(first.isHeld()).toBe(true));
  await first.release();
});
