import { listAccounts } from '@bakehouse/contract/credits';
import { deleteAccount } from '@bakehouse/contract/privacy';
import { beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { password } from '../../testing/auth-client.ts';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { ensureSystemUser, systemUserId } from '../accounts/users.ts';

const server = await testServer();
let olga: TestUser;
beforeAll(async () => {
  olga = await signUpOperator(server, 'Olga');
  for (const name of ['Ada', 'Bob', '100% Carol']) await server.signUp(name);
});

const list = (query: Parameters<typeof server.request<typeof listAccounts>>[1]['query'] = {}) =>
  server.request(listAccounts, { query }, { as: olga });
const names = async (search: string) => (await list({ search })).accounts.map(({ name }) => name);

test('an operator sees all accounts, newest first, page by page', async () => {
  const first = await list({ limit: 3 });
  expect(first.accounts.map(({ name }) => name)).toEqual(['100% Carol', 'Bob', 'Ada']);
  expect(first.accounts[0]).toMatchObject({ balance: '125', held: '0', is_operator: false });
  const second = await list({ limit: 3, cursor: first.next_cursor ?? undefined });
  expect(second.accounts).toMatchObject([{ user_id: olga.userId, is_operator: true }]);
  expect(second.next_cursor).toBeNull();
  await expect(list({ cursor: 'nobody' })).rejects.toMatchObject({ status: 400 });
});

test("books visitors' credits on a system account, which is not listed", async () => {
  const id = systemUserId('visitors');
  await inTransaction(server.services.db, (tx) => ensureSystemUser(tx, { id, name: 'Visitors' }));
  expect(await names('visitors')).toEqual([]);
});

test('finds accounts by a part of the name or address, or by the id', async () => {
  expect(await names('LGA-1@')).toEqual(['Olga']);
  expect(await names('carol')).toEqual(['100% Carol']);
  expect(await names('%')).toEqual(['100% Carol']);
  expect(await names(olga.userId)).toEqual(['Olga']);
  expect(await names('nobody at all')).toEqual([]);
});

test('finds one account by its whole username, address or id', async () => {
  const username = (await list({ search: olga.userId })).accounts[0]?.username ?? '';
  for (const user of [username, olga.email, olga.email.toUpperCase(), olga.userId])
    expect((await list({ user })).accounts).toMatchObject([{ user_id: olga.userId }]);
  expect(await list({ user: username.slice(0, -1) })).toEqual({ accounts: [], next_cursor: null });
});

test('marks a deleted account', async () => {
  const dora = await server.signUp('Dora');
  await server.request(deleteAccount, { body: { password } }, { headers: { cookie: dora.cookie } });
  const { accounts } = await list({ search: dora.userId });
  expect(accounts).toMatchObject([{ is_deleted: true }]);
  expect((await list({ search: olga.userId })).accounts).toMatchObject([{ is_deleted: false }]);
});
