import { expect, test } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { checkWrites } from './check-writes.ts';
import { createPool } from './database.ts';

const { pool, url } = await testDatabase();

function poolWith(option: string) {
  const own = createPool(`${url}${url.includes('?') ? '&' : '?'}options=-c%20${option}`);
  onFileEnd(() => own.end());
  return own;
}

test('the readiness check writes to the database', async () => {
  await checkWrites(pool);
  expect((await pool.query('select from readiness_checks')).rows).toHaveLength(1);
  await expect(checkWrites(poolWith('default_transaction_read_only%3Don'))).rejects.toMatchObject({
    code: '25006',
  });
});

test('the readiness check fails if files cannot grow, even though it updates its row in place', async () => {
  await checkWrites(pool);
  // Like a full disk: no file may grow.
  await expect(checkWrites(poolWith('temp_file_limit%3D0'))).rejects.toMatchObject({ code: '53400' });
});
