import { randomUUID } from 'node:crypto';
import { previewTransfer, transferTokens } from '@bakehouse/contract/credits';
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import type { Config } from '../../config.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { announceChange } from '../../platform/events/publish-change.ts';
import { untilWaiting } from '../../testing/test-database.ts';
import { testServer } from '../../testing/test-server.ts';
import { closeAccount } from '../accounts/deletion/close-account.ts';
import { availableMicro } from './ledger/available-micro.ts';
import { openUserAccount } from './ledger/open-user-account.ts';
import { lockTotals } from './steps.ts';
import { creditsServer } from './testing/credits-server.ts';
import { insertTestUser } from './testing/test-user.ts';

const { server, db, signUp, balanceOf, statementOf, send, usernameOf } = await creditsServer();

describe('sending credits', () => {
  test('to an address works only once it is verified, if the server verifies addresses', async () => {
    const [ada, eve] = [await signUp('Ada'), await signUp('Eve')];
    server.services.config.mail = { host: 'mail', port: 25, tls: 'none', login: null, from: 'b@example.com' };
    try {
      await expect(send(ada, eve.email, '0.5')).rejects.toMatchObject({ code: 'not_found' });
      await db.updateTable('users').set({ email_verified: true }).where('id', '=', eve.userId).execute();
      expect((await send(ada, eve.email, '0.5')).amount).toBe('0.5');
    } finally {
      server.services.config.mail = null;
    }
    expect(await balanceOf(eve)).toMatchObject({ available: '125.5' });
  });

  test.each(['username', 'email', 'id'])('to a user by %s', async (by) => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const recipient =
      { username: await usernameOf(bob), email: bob.email.toUpperCase(), id: bob.userId }[by] ?? '';
    const answer = await send(ada, recipient, '0.5');
    expect(answer.amount).toBe('0.5');
    expect(await balanceOf(ada)).toMatchObject({ balance: '124.5', held: '0', available: '124.5' });
    expect(await balanceOf(bob)).toMatchObject({ available: '125.5' });

    const line = {
      transaction_id: answer.transaction_id,
      amount: '0.5',
      buyer_id: ada.userId,
      seller_id: bob.userId,
    };
    expect((await statementOf(ada)).transactions[0]).toMatchObject({
      ...line,
      transaction_type: 'transfer',
      description: `Sent to ${await usernameOf(bob)}`,
    });
    expect((await statementOf(bob)).transactions[0]).toMatchObject({
      ...line,
      transaction_type: 'credit',
      description: `Received from ${await usernameOf(ada)}`,
    });
    expect((await statementOf(ada)).summary?.total_token_transferred).toBe('0.5');
    expect((await statementOf(bob)).summary?.total_token_transferred).toBe('0');
  });

  test("moves nothing if the recipient's account is deleted while the call waits", async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const { sending } = await db.transaction().execute(async (tx) => {
      await lockTotals(tx, bob.userId);
      const begun = send(ada, bob.email, '0.5').catch((error: unknown) => error);
      await untilWaiting(db);
      await tx.updateTable('users').set({ deleted_at: new Date() }).where('id', '=', bob.userId).execute();
      return { sending: begun };
    });
    expect(await sending).toMatchObject({ code: 'not_found' });
    expect(await balanceOf(ada)).toMatchObject({ available: '125' });
  });

  test('returns the same result for the same key, even after other transfers', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const key = randomUUID();
    const first = await send(ada, bob.email, 10, key);
    await send(ada, bob.email, 5);
    expect(await send(ada, bob.email, 10, key)).toEqual(first);
    await expect(send(ada, bob.email, 11, key)).rejects.toMatchObject({
      status: 409,
      code: 'idempotency_conflict',
    });
    expect(await balanceOf(ada)).toMatchObject({ available: '110' });
  });

  test.each(['username', 'email', 'id'])(
    "returns it even after the recipient's account, named by %s, was deleted",
    async (by) => {
      const [ada, bob, eve] = [await signUp('Ada'), await signUp('Bob'), await signUp('Eve')];
      const recipient = { username: await usernameOf(bob), email: bob.email, id: bob.userId }[by] ?? '';
      const key = randomUUID();
      const first = await send(ada, recipient, 10, key);
      await inTransaction(db, (tx) =>
        closeAccount(tx, { userId: bob.userId, now: new Date(), config: server.services.config }),
      );
      expect(await send(ada, recipient, 10, key)).toEqual(first);
      // The result does not reveal who has an account.
      for (const other of [eve.email, 'nobody-at-all@example.com'])
        expect(await send(ada, other, 10, key)).toEqual(first);
      await expect(send(ada, recipient, 11, key)).rejects.toMatchObject({ code: 'idempotency_conflict' });
      await expect(send(ada, recipient, 10)).rejects.toMatchObject({ code: 'not_found' });
      expect(await balanceOf(ada)).toMatchObject({ available: '115' });
      expect(await balanceOf(eve)).toMatchObject({ available: '125' });
    },
  );

  test('20 concurrent calls with one key move the credits once', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(ada, bob.email, 10, key)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await balanceOf(bob)).toMatchObject({ available: '135' });
  });

  test('rejects a key that is too long', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    await expect(send(ada, bob.email, 1, 'k'.repeat(256))).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'Idempotency-Key' } },
    });
  });

  test('keys of different users are separate', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const key = randomUUID();
    await send(ada, bob.email, 10, key);
    await send(bob, ada.email, 10, key);
    expect(await balanceOf(bob)).toMatchObject({ available: '125' });
  });

  test.each([
    ['   ', 1, 400, 'Recipient username cannot be empty'],
    ['nobody-at-all', 1, 404, 'Failed to send Bagels. Please check the recipient username.'],
    ['someone@example.com', 0, 400, 'Amount must be greater than 0'],
    ['someone@example.com', -1, 400, 'Amount must be greater than 0'],
    [
      'someone@example.com',
      '0.0000001',
      400,
      'Amount must be a decimal number of BGL with at most 6 decimals',
    ],
    ['someone@example.com', '999999999999999', 400, 'Amount must be less than 1,000,000,000,000 BGL'],
    ['someone@example.com', '9'.repeat(24), 400, 'Amount must be less than 1,000,000,000,000 BGL'],
    [
      'someone@example.com',
      12345678901.125,
      400,
      'Amount is too large for a JSON number, which may be rounded. Send it as a string',
    ],
    ['someone@example.com', '1e3', 400, 'Amount must be a decimal number of BGL with at most 6 decimals'],
    [
      'someone@example.com',
      '125.000001',
      402,
      'Insufficient balance. Required: 125.000001 BGL. Available: 125 BGL.',
    ],
  ])('to %j with the amount %j returns %i', async (recipient, amount, status, message) => {
    const ada = await signUp('Ada');
    await expect(send(ada, recipient, amount)).rejects.toMatchObject({
      status,
      body: { error: { message } },
    });
    expect(await balanceOf(ada)).toMatchObject({ available: '125' });
  });

  async function sendStartingCredits(config: Partial<Config>) {
    const { request, signUp: enter } = await testServer({ config: { startingGrantBgl: '125', ...config } });
    const [ada, bob] = [await enter('Ada'), await enter('Bob')];
    return request(
      transferTokens,
      { body: { user_id: bob.userId, recipient_id: ada.userId, amount: 125 } },
      { as: bob, idempotencyKey: randomUUID() },
    );
  }

  test('can send starting credits if the settings allow it', async () => {
    expect(await sendStartingCredits({ sendGivenCredits: true })).toMatchObject({ amount: '125' });
  });

  test.each([{ sendGivenCredits: false }, { sendGivenCredits: true, startingGrantDays: 30 }])(
    'rejects starting credits with the settings %j',
    async (config) => {
      await expect(sendStartingCredits(config)).rejects.toMatchObject({
        status: 402,
        code: 'not_sendable',
        body: {
          error: {
            message: 'Promotional credits can be spent but not sent. You can send up to 0 BGL.',
            param: 'amount',
            available_amount: '0',
          },
        },
      });
    },
  );

  test('rejects sending to oneself', async () => {
    const ada = await signUp('Ada');
    await expect(send(ada, ada.email, 1)).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'recipient_id' } },
    });
  });

  test('reveals nothing about accounts if the amount exceeds the balance', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const refusal = (recipient: string) =>
      send(ada, recipient, '999999').catch(({ status, body }) => ({ status, ...body.error, request_id: '' }));
    const refused = await refusal('nobody-at-all@example.com');
    expect(refused).toMatchObject({ status: 402, code: 'insufficient_funds' });
    expect(await refusal(bob.email)).toEqual(refused);
    expect(await refusal(ada.email)).toEqual(refused);
  });

  test('works for a user who has never signed in, and the starting grant is added later', async () => {
    const ada = await signUp('Ada');
    const row = { id: 'never-in', name: 'Never', username: 'never-in', email: 'never-in@example.com' };
    await db.insertInto('users').values(row).execute();
    await send(ada, row.email, '1.5');
    const grantMicro = 125_000_000n;
    const open = () => db.transaction().execute((tx) => openUserAccount(tx, { userId: row.id, grantMicro }));
    await open();
    await open();
    expect(await availableMicro(db, row.id)).toBe(126_500_000n);
  });

  test('notifies both users', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const heard = new Set<string>();
    for (const { userId } of [ada, bob]) {
      server.services.events.subscribe(userId, ({ topic, id }) => heard.add(`${topic} ${id}`));
    }
    // Notifications arrive in order. After this marker, none about the starting grants follows.
    announceChange(db, ada.userId, { topic: 'asset', id: 'marker' });
    await vi.waitFor(() => expect(heard).toContain('asset marker'));
    heard.clear();
    await send(ada, bob.email, 1);
    await vi.waitFor(() =>
      expect(heard).toEqual(
        new Set([`balance ${ada.userId}`, `balance ${bob.userId}`, `notification ${bob.userId}`]),
      ),
    );
  });
});

describe('the limit of credits sent within 24 hours', async () => {
  const limited = await creditsServer({ sendLimitBgl: '100' });
  const refused = (amount: number, left: string) => ({
    status: 402,
    code: 'not_sendable',
    body: {
      error: {
        message: `This server limits what can be sent within 24 hours. You can send up to ${left} BGL now.`,
        param: 'amount',
        required_amount: String(amount),
        available_amount: left,
      },
    },
  });

  test('applies to all calls together, also to concurrent ones', async () => {
    const [ada, bob] = [await limited.signUp('Ada'), await limited.signUp('Bob')];
    await expect(limited.send(ada, bob.email, 101)).rejects.toMatchObject(refused(101, '100'));
    const key = randomUUID();
    await limited.send(ada, bob.email, 60, key);
    const answers = await Promise.allSettled(
      Array.from({ length: 8 }, () => limited.send(ada, bob.email, 30)),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(limited.send(ada, bob.email, 11)).rejects.toMatchObject(refused(11, '10'));
    // A repeated call and other users' sends do not count.
    await limited.send(ada, bob.email, 60, key);
    await limited.send(bob, ada.email, 100);
    expect(await limited.balanceOf(ada)).toMatchObject({ balance: '135' });
  });

  test('covers the last 24 hours', async () => {
    const [ada, bob] = [await limited.signUp('Ada'), await limited.signUp('Bob')];
    await sql`
      insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs, created_at)
      values (${`user:${ada.userId}`}, ${`user:${bob.userId}`}, 90000000, 'transfer', 'Earlier', '{}',
        now() - interval '24 hours 1 second')`.execute(limited.db);
    await sql`
      update ledger_accounts set debits_posted = debits_posted + 90000000
      where id = ${`user:${ada.userId}`}`.execute(limited.db);
    await limited.send(ada, bob.email, 35);
    expect(await limited.balanceOf(ada)).toMatchObject({ balance: '0' });
  });

  test('is shown before sending', async () => {
    const [ada, bob] = [await limited.signUp('Ada'), await limited.signUp('Bob')];
    const preview = (amount: string) =>
      limited.server.request(
        previewTransfer,
        { query: { user_id: ada.userId, recipient_id: bob.userId, amount } },
        { as: ada },
      );
    expect(await limited.balanceOf(ada)).toMatchObject({ sendable: '100' });
    expect(await preview('101')).toEqual({ recipient: null });
    await limited.send(ada, bob.email, 60);
    expect(await limited.balanceOf(ada)).toMatchObject({ balance: '65', sendable: '40' });
    expect(await preview('40')).toMatchObject({ recipient: { user_id: bob.userId } });
    expect(await preview('41')).toEqual({ recipient: null });
  });

  test('does not reveal who has an account', async () => {
    const [ada, bob] = [await limited.signUp('Ada'), await limited.signUp('Bob')];
    for (const recipient of [bob.email, 'nobody-at-all@example.com'])
      await expect(limited.send(ada, recipient, 101)).rejects.toMatchObject(refused(101, '100'));
  });
});

describe('the recipient in the preview', async () => {
  const preview = (
    from: { userId: string; apiKey: string },
    recipient_id: string,
    amount: string | number = 1,
  ) =>
    server.request(previewTransfer, { query: { user_id: from.userId, recipient_id, amount } }, { as: from });

  test('is shown by username or id', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const recipient = { user_id: bob.userId, username: await usernameOf(bob) };
    expect(await preview(ada, recipient.username.toUpperCase())).toEqual({ recipient });
    expect(await preview(ada, bob.userId)).toEqual({ recipient });
  });

  test('is hidden for an address, an unknown name, or an amount that cannot be sent', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const given = await insertTestUser(db, { grantMicro: 1_000_000n });
    expect(await preview(ada, bob.email)).toEqual({ recipient: null });
    expect(await preview(ada, 'nobody-at-all')).toEqual({ recipient: null });
    expect(await preview(ada, await usernameOf(bob), '125.000001')).toEqual({ recipient: null });
    expect(await preview(ada, given, 125)).toMatchObject({ recipient: { user_id: given } });
  });
});
