import { randomUUID } from 'node:crypto';
import { createApiKey } from '@bakehouse/contract/api-keys';
import { transferTokens } from '@bakehouse/contract/credits';
import { countUnread, listNotifications, readNotifications } from '@bakehouse/contract/notifications';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { warnOfLowBalanceJob } from '../billing/jobs/warn-of-low-balance.ts';
import { GRANTS_ACCOUNT, userAccount } from '../billing/ledger/accounts.ts';
import { transfer } from '../billing/ledger/transfer.ts';
import { deleteOldNotificationsJob, notifyKeyExpiryJob } from './jobs/notification-jobs.ts';
import type { NewNotification } from './kinds.ts';
import { kinds } from './kinds.ts';
import { notify } from './notifications.ts';

const clock = fakeClock();
const server = await testServer({ clock });
const { db } = server.services;

const listFor = (as: TestUser, query: { limit?: number; cursor?: string } = {}) =>
  server.request(listNotifications, { params: { userId: as.userId }, query }, { as });
const markRead = (as: TestUser, notification_id: string) =>
  server.request(
    readNotifications,
    { params: { userId: as.userId }, query: { notification_id, status: 'read' } },
    { as },
  );
const send = (...sent: NewNotification[]) => inTransaction(db, (tx) => notify(tx, ...sent));
const runEnded = ({ userId }: TestUser, title: string): NewNotification => ({
  userId,
  kind: 'run_completed',
  data: { run_id: randomUUID(), title },
});
const runJob = (job: typeof notifyKeyExpiryJob) => job.run(server.services, {}, new AbortController().signal);
const grant = (to: string, amountMicro: bigint) =>
  inTransaction(db, (tx) =>
    transfer(tx, {
      debitAccountId: GRANTS_ACCOUNT,
      creditAccountId: userAccount(to),
      amountMicro,
      kind: 'grant',
      description: 'Test',
      idempotencyKey: null,
    }),
  );

test('can be sent to more users than a statement may have parameters', async () => {
  const eve = await server.signUp('Eve');
  await send(...Array.from({ length: 22_000 }, () => runEnded(eve, 'one of many')));
  const newest = await listFor(eve, { limit: 1 });
  expect(newest.map(({ message }) => message)).toEqual(['one of many has finished training']);
});

test('are listed newest first, in pages, only to their owner', async () => {
  const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
  for (const title of ['one', 'two', 'three']) await send(runEnded(ada, title));
  const first = await listFor(ada, { limit: 2 });
  expect(first.map(({ message }) => message)).toEqual([
    'three has finished training',
    'two has finished training',
  ]);
  expect(first[0]).toMatchObject({ kind: 'run_completed', status: 'unread', amount: null });
  const [third, second] = first;
  expect(Date.parse(third?.created_at ?? '')).toBeGreaterThanOrEqual(Date.parse(second?.created_at ?? ''));
  expect(first[0]?.link).toMatch(/^\/runs\//);
  const cursor = first[1]?.notification_id ?? '';
  expect((await listFor(ada, { cursor })).map(({ message }) => message)).toEqual([
    'one has finished training',
  ]);
  expect(await listFor(bob)).toEqual([]);
  await expect(listFor(bob, { cursor })).rejects.toMatchObject({ status: 400 });
});

test('are marked as read one by one or all together, only by their owner', async () => {
  const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
  await send(runEnded(ada, 'one'), runEnded(ada, 'two'), runEnded(ada, 'three'), runEnded(bob, 'four'));
  const [newest] = await listFor(ada);
  const id = newest?.notification_id ?? '';
  await expect(markRead(bob, id)).rejects.toMatchObject({ status: 404 });
  expect(await markRead(ada, id)).toEqual({ unread: 2 });
  expect((await listFor(ada)).map(({ status }) => status)).toEqual(['read', 'unread', 'unread']);
  expect(await markRead(ada, '')).toEqual({ unread: 0 });
  expect((await listFor(bob)).map(({ status }) => status)).toEqual(['unread']);
});

test('are counted while unread, on all pages of the list', async () => {
  const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
  const unreadOf = (as: TestUser) => server.request(countUnread, { params: { userId: as.userId } }, { as });
  await send(runEnded(ada, 'oldest'), ...Array.from({ length: 50 }, () => runEnded(ada, 'one of many')));
  expect(await unreadOf(ada)).toEqual({ unread: 51 });
  for (const { notification_id } of await listFor(ada)) await markRead(ada, notification_id);
  expect(await unreadOf(ada)).toEqual({ unread: 1 });
  expect(await unreadOf(bob)).toEqual({ unread: 0 });
});

test('are announced to their owner after the commit', async () => {
  const ada = await server.signUp('Ada');
  const heard = new Promise((resolve) =>
    server.services.events.subscribe(ada.userId, (event) => {
      // Ignore other events, which may still arrive from the sign-up.
      if (event.topic === 'notification') resolve(event);
    }),
  );
  await send(runEnded(ada, 'one'));
  expect(await heard).toEqual({ topic: 'notification', id: ada.userId });
});

test('report received credits once, even if the transfer is repeated', async () => {
  const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
  await grant(ada.userId, 100_000_000n);
  const call = { body: { user_id: ada.userId, recipient_id: bob.userId, amount: '12.5' } };
  for (let i = 0; i < 2; i += 1) {
    await server.request(transferTokens, call, { as: ada, idempotencyKey: 'the-same' });
  }
  const { username } = await db
    .selectFrom('users')
    .select('username')
    .where('id', '=', ada.userId)
    .executeTakeFirstOrThrow();
  expect(await listFor(bob)).toMatchObject([
    { kind: 'credits_received', message: `You received 12.50 BGL from ${username}`, amount: '12.5' },
  ]);
  expect(await listFor(ada)).toEqual([]);
});

test('report at most twenty unread transfers per sender', async () => {
  const [ada, bob, eve] = [
    await server.signUp('Ada'),
    await server.signUp('Bob'),
    await server.signUp('Eve'),
  ];
  for (const { userId } of [bob, eve]) await grant(userId, 100_000_000n);
  const pay = (as: TestUser) =>
    server.request(
      transferTokens,
      { body: { user_id: as.userId, recipient_id: ada.userId, amount: '0.000001' } },
      { as, idempotencyKey: randomUUID() },
    );
  for (let sent = 0; sent < 22; sent += 1) await pay(eve);
  await pay(bob);
  expect(await listFor(ada)).toHaveLength(21);
  await markRead(ada, '');
  await pay(eve);
  expect(await listFor(ada)).toHaveLength(22);
});

test('report low balances to any number of users', async () => {
  const many = sql`select 'low-' || number from generate_series(1, 1001) number`;
  await sql`
    insert into users (id, name, username, email)
    select id, id, id, id || '@example.org' from (${many}) low (id)`.execute(db);
  await sql`
    insert into ledger_accounts (id, kind, owner_user_id, credits_posted, debits_posted, debits_pending, given)
    select 'user:' || id, 'user', id, 0, 0, 0, 0 from (${many}) low (id)
    on conflict do nothing`.execute(db);
  await sql`insert into low_balance_watch (user_id) ${many}`.execute(db);
  await warnOfLowBalanceJob.run(server.services, {}, new AbortController().signal);
  const { rows } = await sql<{ users: bigint }>`
    select count(distinct user_id) as users from notifications
    where kind = 'balance_low' and user_id like 'low-%'`.execute(db);
  expect(rows[0]?.users).toBe(1001n);
});

test('report a low balance once each time that it falls below the limit', async () => {
  const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
  const warn = () => warnOfLowBalanceJob.run(server.services, {}, new AbortController().signal);
  const lowOf = async () => (await listFor(ada)).filter(({ kind }) => kind === 'balance_low').length;
  const spend = (amount: string) =>
    server.request(
      transferTokens,
      { body: { user_id: ada.userId, recipient_id: bob.userId, amount } },
      { as: ada, idempotencyKey: randomUUID() },
    );
  await grant(ada.userId, 1_000_000_000n);
  await warn();
  expect(await lowOf()).toBe(0);
  // The starting credits of 125 BGL cannot be sent, so remove them.
  await db
    .updateTable('ledger_given')
    .set({ remaining: 0n })
    .where('account_id', '=', userAccount(ada.userId))
    .execute();
  await db
    .updateTable('ledger_accounts')
    .set({ given: 0n })
    .where('id', '=', userAccount(ada.userId))
    .execute();
  await spend('1110');
  await warn();
  await warn();
  expect(await lowOf()).toBe(1);
  expect((await listFor(ada))[0]).toMatchObject({ amount: '15', link: '/buy-bagels' });
  await grant(ada.userId, 50_000_000n);
  await warn();
  await spend('64.996');
  await warn();
  expect(await lowOf()).toBe(2);
  expect((await listFor(ada))[0]).toMatchObject({
    message: 'Your balance is down to 0.0040 BGL',
    amount: '0.004',
  });
});

test('report an expiring API key once, a week before it expires', async () => {
  const ada = await server.signUp('Ada');
  const expires_at = new Date(clock.now().getTime() + 9 * 24 * 3_600_000).toISOString();
  await server.request(
    createApiKey,
    { params: { userId: ada.userId }, body: { name: 'nightly', expires_at } },
    { as: ada },
  );
  await runJob(notifyKeyExpiryJob);
  expect(await listFor(ada)).toEqual([]);
  clock.advance({ days: 3 });
  await runJob(notifyKeyExpiryJob);
  await runJob(notifyKeyExpiryJob);
  const listed = await listFor(ada);
  expect(listed).toHaveLength(1);
  expect(listed[0]?.message).toMatch(/^Your API key nightly expires on \d+ \w+ \d{4} at \d\d:\d\d UTC$/);
});

test('are deleted after 90 days', async () => {
  const ada = await server.signUp('Ada');
  await send(runEnded(ada, 'old'), runEnded(ada, 'new'));
  const [newest] = await listFor(ada);
  const old = new Date(clock.now().getTime() - 91 * 24 * 3_600_000);
  await db
    .updateTable('notifications')
    .set({ created_at: old })
    .where('id', '=', newest?.notification_id ?? '')
    .execute();
  await runJob(deleteOldNotificationsJob);
  expect(await listFor(ada)).toHaveLength(1);
});

test('have a message and a page of the web app for each kind', () => {
  const data = {
    ...{ run_id: 'r', pod_id: 'p', asset_id: 'a', model_id: 'org/model', key_id: 'k', generation_id: 'g' },
    ...{
      title: 'T',
      name: 'N',
      sender: 'S',
      by: 'B',
      generator: 'G',
      link: '/paris',
      username: 'U',
      subject: 'S',
      reason: 'R',
      stop_reason: 'credits',
      dataset_type: 'RAW',
    },
    ...{ amount_micro: '1', expires_at: '2030-01-31T00:00:00Z' },
  };
  for (const show of Object.values(kinds)) {
    const { message, link } = (show as (all: typeof data) => { message: string; link: string })(data);
    expect(message).not.toMatch(/undefined/);
    expect(link).toMatch(/^\/[\w/%-]+$/);
  }
});
