import { expect, test } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { checkWrites } from './check-writes.ts';
import { createPool } from './database.ts';
import { isDatabaseAway } from './is-database-away.ts';

const { db, pool, url } = await testDatabase();

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test('a database that cannot be reached or used is away', async () => {
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
])('SQLSTATE %s is away', (code, message) => {
  expect(isDatabaseAway(Object.assign(new Error(message), { code }))).toBe(true);
});

test('a query that is wrong is not', async () => {
  expect(isDatabaseAway(await errorOf(pool.query('select nonsense')))).toBe(false);
  expect(isDatabaseAway(await errorOf(pool.query("select 'a'::int")))).toBe(false);
  expect(isDatabaseAway(new Error('anything else'))).toBe(false);
});

test('readiness is a write', async () => {
  await checkWrites(pool);
  expect((await pool.query('select from readiness_checks')).rows).toHaveLength(1);

  const readOnly = createPool(
    `${url}${url.includes('?') ? '&' : '?'}options=-c%20default_transaction_read_only%3Don`,
  );
  onFileEnd(() => readOnly.end());
  await expect(checkWrites(readOnly)).rejects.toMatchObject({ code: '25006' });
  await db.deleteFrom('readiness_checks').execute();
});
