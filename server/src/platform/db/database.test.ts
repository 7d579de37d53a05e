import net from 'node:net';
import path from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { createPool, ping, toJson } from './database.ts';

const { db, url } = await testDatabase();

test('values are exact in both directions', async () => {
  const big = 9_007_199_254_740_993n;
  const { rows } = await sql`
    select ${big}::bigint as big, array[${big}, null]::bigint[] as bigs, 0.1::numeric as part,
      date '2026-02-28' as day, timestamptz '2026-01-01T00:00:00Z' as at,
      ${toJson([{ amount: big }])}::jsonb as list
  `.execute(db);
  expect(rows[0]).toEqual({
    big,
    bigs: [big, null],
    part: '0.1',
    day: '2026-02-28',
    at: new Date('2026-01-01T00:00:00Z'),
    list: [{ amount: '9007199254740993' }],
  });
});

test('the audit log is append-only', async () => {
  await db.insertInto('audit_log').values({ action: 'test.done', user_id: null }).execute();
  await expect(db.updateTable('audit_log').set({ action: 'test.other' }).execute()).rejects.toThrow(
    'append-only',
  );
  await expect(db.deleteFrom('audit_log').execute()).rejects.toThrow('append-only');
  await expect(sql`truncate audit_log`.execute(db)).rejects.toThrow('append-only');
});

describe('a pool with a limit', () => {
  test('cancels statements that take too long, and continues', async () => {
    // The connection is closed after twice this time. It must be long enough that a busy machine does not
    // reach that first.
    const pool = createPool(url, { statementMsMax: 2_000 });
    onFileEnd(() => pool.end());
    await expect(pool.query('select pg_sleep(600)')).rejects.toMatchObject({ code: '57014' });
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  test('ends idle transactions', async () => {
    const pool = createPool(url, { statementMsMax: 500 });
    onFileEnd(() => pool.end());
    const client = await pool.connect();
    await client.query('begin');
    await new Promise<void>((resolve) => client.once('end', resolve));
    client.release();
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  test('replaces a connection on which PostgreSQL is silent', async () => {
    const proxy = await swallowingProxy();
    const pool = createPool(proxy.url, { statementMsMax: 500 });
    onFileEnd(() => pool.end());
    await pool.query('select 1');
    proxy.swallow(true);
    await expect(pool.query('select 1')).rejects.toThrow('PostgreSQL said nothing for 1 s');
    proxy.swallow(false);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });
});

test('a ping without an answer times out, and the next one uses another connection', async () => {
  const proxy = await swallowingProxy();
  const pool = createPool(proxy.url);
  onFileEnd(() => pool.end());
  await ping(pool);
  proxy.swallow(true);
  await expect(ping(pool)).rejects.toThrow(/timeout|No answer/);
  proxy.swallow(false);
  await vi.waitFor(() => expect(pool.totalCount).toBe(0));
  await ping(pool);
}, 15_000);

/** The test's PostgreSQL behind a proxy that can drop packets. */
async function swallowingProxy(): Promise<{ url: string; swallow: (value: boolean) => void }> {
  const direct = new URL(url);
  const socketFile = path.join(direct.searchParams.get('host') ?? '', `.s.PGSQL.${direct.port || 5432}`);
  let swallowing = false;
  const server = net.createServer((near) => {
    const far = net.connect(socketFile);
    near.on('data', (bytes) => swallowing || far.write(bytes));
    far.on('data', (bytes) => swallowing || near.write(bytes));
    near.on('error', () => undefined).on('close', () => far.destroy());
    far.on('error', () => undefined).on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onFileEnd(async () => void server.close());
  const proxied = new URL(url);
  proxied.searchParams.delete('host');
  proxied.hostname = '127.0.0.1';
  proxied.port = String((server.address() as net.AddressInfo).port);
  return {
    url: proxied.href,
    swallow: (value) => {
      swallowing = value;
    },
  };
}
