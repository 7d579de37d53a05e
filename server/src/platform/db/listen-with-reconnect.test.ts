import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { listenWithReconnect, openListener } from './listen-with-reconnect.ts';

const { db, url } = await testDatabase();
const name = 'bakehouse listener under test';
const options = { url, name, onError: () => undefined };

async function countConnections(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where application_name = ${name} and datname = current_database()`.execute(db);
  return rows[0]?.count ?? 0;
}

test('receives notifications of its channel', async () => {
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

test('counts a notification as missed if its handler throws', async () => {
  const logged: string[] = [];
  const log = pino({}, { write: (line) => void logged.push(JSON.parse(line).msg) });
  const onReconnect = vi.fn();
  const onMessage = (payload = '') => void JSON.parse(payload);
  const listening = await listenWithReconnect({
    url,
    name,
    channel: 'test_channel',
    onMessage,
    onReconnect,
    log,
  });
  await sql`select pg_notify('test_channel', 'no JSON')`.execute(db);
  await vi.waitFor(() => expect(onReconnect).toHaveBeenCalledTimes(1));
  expect(logged).toEqual([`handler of the connection '${name}' failed`]);
  await listening.close();
});

test('leaves no open connection if it cannot listen', async () => {
  const listening = openListener({ ...options, channel: 'no channel', onMessage: () => undefined });
  await expect(listening).rejects.toThrow('syntax error');
  await vi.waitFor(async () => expect(await countConnections()).toBe(0));
});

/** AuthenticationOk and ReadyForQuery. */
const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

test.each([
  ['while connecting', Buffer.of(), 'timeout expired'],
  ['during a query', welcome, 'Query read timeout'],
])('times out if the database is silent %s', async (_when, first, said) => {
  const silent = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(first));
  }).listen(0, '127.0.0.1');
  onFileEnd(async () => void silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const away = { ...options, url: `postgresql://baker@127.0.0.1:${port}/away` };
  const listening = openListener({ ...away, channel: 'test_channel', onMessage: () => undefined });
  await expect(listening).rejects.toThrow(said);
});
