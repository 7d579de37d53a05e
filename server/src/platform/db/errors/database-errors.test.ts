import { type AddressInfo, createServer } from 'node:net';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { connect, createPool } from '../database.ts';
import { isDatabaseAway } from './database-errors.ts';

const { pool, url } = await testDatabase();

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test('a database that is unreachable or cannot be used counts as unavailable', async () => {
  const nowhere = createPool('postgresql://nobody@127.0.0.1:1/nothing');
  onFileEnd(() => nowhere.end());
  expect(isDatabaseAway(await errorOf(nowhere.query('select 1')))).toBe(true);
  const noSocket = createPool('postgresql://nobody@localhost/nothing?host=/nowhere');
  onFileEnd(() => noSocket.end());
  expect(isDatabaseAway(await errorOf(noSocket.query('select 1')))).toBe(true);

  const own = createPool(url);
  onFileEnd(() => own.end());
  const cut = errorOf(own.query('select pg_terminate_backend(pg_backend_pid())'));
  expect(isDatabaseAway(await cut)).toBe(true);
});

test.each([
  ['57P03', 'the database system is starting up'],
  ['53300', 'sorry, too many clients already'],
  ['53100', 'could not extend file: No space left on device'],
  ['25006', 'cannot execute INSERT in a read-only transaction'],
])('SQLSTATE %s means that the database is unavailable', (code, message) => {
  expect(isDatabaseAway(Object.assign(new Error(message), { code }))).toBe(true);
});

/** A server that closes each connection as soon as it receives data. */
async function cuttingServer(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.resetAndDestroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onFileEnd(async () => void server.close());
  return (server.address() as AddressInfo).port;
}

test('a broken connection counts only if it was to the database, not to another service', async () => {
  const port = await cuttingServer();
  const cut = connect(`postgresql://nobody@127.0.0.1:${port}/nothing`);
  onFileEnd(() => cut.destroy());
  const ofDatabase = await errorOf(sql`select 1`.execute(cut));
  expect(isDatabaseAway(ofDatabase)).toBe(true);

  const failed = await errorOf(fetch(`http://127.0.0.1:${port}`));
  const ofService = failed instanceof Error ? failed.cause : null;
  expect(ofService).toMatchObject({ code: 'ECONNRESET' });
  expect([isDatabaseAway(failed), isDatabaseAway(ofService)]).toEqual([false, false]);
});

test('an invalid query is not an outage', async () => {
  expect(isDatabaseAway(await errorOf(pool.query('select nonsense')))).toBe(false);
  expect(isDatabaseAway(await errorOf(pool.query("select 'a'::int")))).toBe(false);
  expect(isDatabaseAway(new Error('anything else'))).toBe(false);
});
