import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { testDatabase } from '../../testing/test-database.ts';
import { openListener } from './open-listener.ts';

const { db, url } = await testDatabase();
const name = 'bakehouse listener under test';
const options = { url, name, onError: () => undefined };

async function countConnections(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where application_name = ${name} and datname = current_database()`.execute(db);
  return rows[0]?.count ?? 0;
}

test('hears its channel', async () => {
  const heard: (string | undefined)[] = [];
  const listener = await openListener({
    ...options,
    channel: 'test_channel',
    onMessage: (payload) => heard.push(payload),
  });
  await sql`select pg_notify('test_channel', 'hello')`.execute(db);
  await vi.waitFor(() => expect(heard).toEqual(['hello']));
  await listener.end();
});

test('leaves no connection where it cannot listen', async () => {
  const listening = openListener({ ...options, channel: 'no channel', onMessage: () => undefined });
  await expect(listening).rejects.toThrow('syntax error');
  await vi.waitFor(async () => expect(await countConnections()).toBe(0));
});
