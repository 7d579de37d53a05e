import { getMe } from '@bakehouse/contract/accounts';
import { getBalance } from '@bakehouse/contract/credits';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { untilWaiting } from '../../testing/test-database.ts';
import { type TestServer, testServer } from '../../testing/test-server.ts';
import { insertWebAppKey } from './keys/key-queries.ts';
import { lockAddress } from './queries.ts';
import { provisionUser } from './users.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ config: { startingGrantBgl: '125' } });
});

async function insertUser(id: string): Promise<void> {
  await sql`insert into users (id, name, email) values (${id}, ${id}, ${`${id}@example.com`})`.execute(
    server.services.db,
  );
}

async function hasKey(userId: string): Promise<boolean> {
  const row = await server.services.db
    .selectFrom('api_keys')
    .select('user_id')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

test('creates the key and runs the handlers in one transaction, and only once despite retries', async () => {
  await insertUser('uma');
  const fail = async () => {
    throw new Error('killed here');
  };
  await expect(provisionUser(server.services, { userId: 'uma', onUserCreated: [fail] })).rejects.toThrow(
    'killed here',
  );
  expect(await hasKey('uma')).toBe(false);

  let runs = 0;
  const count = async () => {
    runs += 1;
  };
  const attempt = () => provisionUser(server.services, { userId: 'uma', onUserCreated: [count] });
  await Promise.all([attempt(), attempt(), attempt()]);
  await attempt();
  expect(runs).toBe(1);
  expect(await hasKey('uma')).toBe(true);
});

test('a second caller waits without holding a lock that the first one needs', async () => {
  await insertUser('wim');
  const { db } = server.services;
  let second: Promise<void> | undefined;
  await db.transaction().execute(async (tx) => {
    await sql`set local lock_timeout = '200ms'`.execute(tx);
    await lockAddress(tx, 'wim');
    second = provisionUser(server.services, { userId: 'wim', onUserCreated: [] });
    await untilWaiting(db);
    const key = { userId: 'wim', sha256: Buffer.alloc(32), encrypted: Buffer.alloc(64) };
    expect(await insertWebAppKey(tx, key)).toBe(true);
  });
  await second;
});

test('a new user has an account with the starting grant', async () => {
  const user = await server.signUp('Vic');
  const { available } = await server.request(getBalance, { params: { userId: user.userId } }, { as: user });
  expect(available).toBe('125');
  expect((await server.request(getMe, {}, { as: user })).id).toBe(user.userId);
});
