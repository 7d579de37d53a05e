import { randomUUID } from 'node:crypto';
import {
  chargeBackPayment,
  getBalance,
  getLedger,
  grantCredits,
  listPrices,
  listSpend,
  listTransactions,
  transferTokens,
} from '@bakehouse/contract/credits';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { GRANTS_ACCOUNT, PAYMENTS_ACCOUNT, revenueAccount, userAccount } from './accounts.ts';
import { collectDebtsJob } from './jobs/collect-debts.ts';
import { availableMicro, extendHold, hold, openUserAccount, settle, transfer } from './ledger.ts';
import { sealTransfers } from './seal-transfers.ts';
import { buyForTest, insertTestUser } from './test-user.ts';

// Nobody begins with given credits, which cannot be sent.
const server = await testServer({ config: { startingGrantBgl: '0' } });
const { db, config } = server.services;
/** A new person who has bought 125 BGL. */
async function signUp(name: string): Promise<TestUser> {
  const user = await server.signUp(name);
  await buyForTest(db, user.userId, 125_000_000n);
  return user;
}
const operator = await signUp('Operator');
config.operators.push(operator.email);
await db.updateTable('users').set({ email_verified: true }).where('id', '=', operator.userId).execute();

const balanceOf = (who: TestUser) =>
  server.request(getBalance, { params: { userId: who.userId } }, { as: who });
const statementOf = (
  who: TestUser,
  query: { limit?: number; cursor?: string; from?: string; to?: string; time_zone?: string } = {},
) => server.request(listTransactions, { params: { userId: who.userId }, query }, { as: who });
const send = (
  from: TestUser,
  recipient_id: string,
  amount: string | number,
  idempotencyKey: string = randomUUID(),
) =>
  server.request(
    transferTokens,
    { body: { user_id: from.userId, recipient_id, amount } },
    { as: from, idempotencyKey },
  );
const usernameOf = async (who: TestUser) =>
  (await db.selectFrom('users').select('username').where('id', '=', who.userId).executeTakeFirstOrThrow())
    .username;

describe('a new account', () => {
  test('starts with the grant, as a transfer', async () => {
    const { request, signUp: enter } = await testServer({
      config: { startingGrantBgl: '125', startingGrantDays: 30 },
      clock: fakeClock(new Date('2030-01-01T00:00:00Z')),
    });
    const ada = await enter('Ada');
    const of = { params: { userId: ada.userId } };
    expect(await request(getBalance, of, { as: ada })).toEqual({
      balance: '125',
      held: '0',
      available: '125',
      given: '125',
      sendable: '0',
      next_expiry: { amount: '125', at: '2030-01-31T00:00:00.000Z' },
    });
    const { transactions, summary } = await request(listTransactions, { ...of, query: {} }, { as: ada });
    expect(transactions).toMatchObject([
      { transaction_type: 'credit', amount: '125', description: 'Starting credits', status: 'completed' },
    ]);
    expect(Object.values(summary ?? {})).toEqual(['0', '0', '0', '0', '0', '0']);
  });
});

describe('sending credits', () => {
  test.each(['username', 'email', 'id'])('to a person by %s', async (by) => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const recipient =
      { username: await usernameOf(bob), email: bob.email.toUpperCase(), id: bob.userId }[by] ?? '';
    const answer = await send(ada, recipient, '0.5');
    expect(answer.amount).toBe('0.5');
    expect(await balanceOf(ada)).toMatchObject({ balance: '124.5', held: '0', available: '124.5' });
    expect(await balanceOf(bob)).toMatchObject({ available: '125.5' });

    const description = `Bagels from ${await usernameOf(ada)} to ${await usernameOf(bob)}`;
    const line = {
      transaction_id: answer.transaction_id,
      amount: '0.5',
      description,
      buyer_id: ada.userId,
      seller_id: bob.userId,
    };
    expect((await statementOf(ada)).transactions[0]).toMatchObject({ ...line, transaction_type: 'transfer' });
    expect((await statementOf(bob)).transactions[0]).toMatchObject({ ...line, transaction_type: 'credit' });
    expect((await statementOf(ada)).summary?.total_token_transferred).toBe('0.5');
    expect((await statementOf(bob)).summary?.total_token_transferred).toBe('0');
  });

  test('the same key gives the same answer, whatever happened since', async () => {
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

  test('20 calls at once with one key move the credits once', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(ada, bob.email, 10, key)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await balanceOf(bob)).toMatchObject({ available: '135' });
  });

  test('a key that is too long is refused', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    await expect(send(ada, bob.email, 1, 'k'.repeat(256))).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'Idempotency-Key' } },
    });
  });

  test('keys of different people do not meet', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const key = randomUUID();
    await send(ada, bob.email, 10, key);
    await send(bob, ada.email, 10, key);
    expect(await balanceOf(bob)).toMatchObject({ available: '125' });
  });

  test.each([
    ['   ', 1, 400, 'Recipient username cannot be empty'],
    ['nobody-at-all', 1, 404, 'Failed to send Bagels. Please check the recipient username.'],
    ['operator-1@example.com', 0, 400, 'Amount must be greater than 0'],
    ['operator-1@example.com', -1, 400, 'Amount must be greater than 0'],
    [
      'operator-1@example.com',
      '0.0000001',
      400,
      'Amount must be a decimal number of BGL with at most 6 decimals',
    ],
    ['operator-1@example.com', '999999999999999', 400, 'Amount must have at most 12 digits before the point'],
    [
      'operator-1@example.com',
      12345678901.125,
      400,
      'Amount is too large for a JSON number, which may be rounded. Send it as a string',
    ],
    ['operator-1@example.com', '1e3', 400, 'Amount must be a decimal number of BGL with at most 6 decimals'],
    [
      'operator-1@example.com',
      '125.000001',
      402,
      'Insufficient balance. Required: 125.000001 BGL. Available: 125 BGL.',
    ],
  ])('to %j the amount %j is refused with %i', async (recipient, amount, status, message) => {
    const ada = await signUp('Ada');
    await expect(send(ada, recipient, amount)).rejects.toMatchObject({
      status,
      body: { error: { message } },
    });
    expect(await balanceOf(ada)).toMatchObject({ available: '125' });
  });

  test('of the starting grant is refused: nobody mints credits by signing up', async () => {
    const { request, signUp: enter } = await testServer({ config: { startingGrantBgl: '125' } });
    const [ada, bob] = [await enter('Ada'), await enter('Bob')];
    const sent = request(
      transferTokens,
      { body: { user_id: bob.userId, recipient_id: ada.userId, amount: 1 } },
      { as: bob, idempotencyKey: randomUUID() },
    );
    await expect(sent).rejects.toMatchObject({
      status: 402,
      code: 'not_sendable',
      body: {
        error: {
          message: 'Given credits can be spent but not sent. You can send up to 0 BGL.',
          param: 'amount',
          available_amount: '0',
        },
      },
    });
  });

  test('to oneself is refused', async () => {
    const ada = await signUp('Ada');
    await expect(send(ada, ada.email, 1)).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'recipient_id' } },
    });
  });

  test('beyond what there is, nobody learns who has an account', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const refusal = (recipient: string) =>
      send(ada, recipient, '999999').catch(({ status, body }) => ({ status, ...body.error, request_id: '' }));
    const refused = await refusal('nobody-at-all@example.com');
    expect(refused).toMatchObject({ status: 402, code: 'insufficient_funds' });
    expect(await refusal(bob.email)).toEqual(refused);
    expect(await refusal(ada.email)).toEqual(refused);
  });

  test('to a person who has never signed in; the starting grant comes on top', async () => {
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

  test('both people hear of it', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const heard = new Set<string>();
    for (const { userId } of [ada, bob]) {
      server.services.events.subscribe(userId, ({ topic, id }) => heard.add(`${topic} ${id}`));
    }
    // News come in order: behind this one there are none of the starting grants.
    server.services.events.announce(ada.userId, { topic: 'asset', id: 'marker' });
    await vi.waitFor(() => expect(heard).toContain('asset marker'));
    heard.clear();
    await send(ada, bob.email, 1);
    await vi.waitFor(() =>
      expect(heard).toEqual(new Set([`balance ${ada.userId}`, `balance ${bob.userId}`])),
    );
  });
});

describe('the statement', () => {
  test('shows what is held as pending, then the charge, with what it was for', async () => {
    const ada = await signUp('Ada');
    const { holdId } = await db.transaction().execute((tx) =>
      hold(tx, {
        userId: ada.userId,
        amountMicro: 20_000_000n,
        kind: 'fine_tuning',
        description: 'Fine-tune of Crumb',
        references: { asset_name: 'Crumb', dataset_id: 'd1', run_id: 'r1' },
        expiresAt: new Date('2100-01-01'),
        idempotencyKey: randomUUID(),
      }),
    );
    expect((await statementOf(ada)).transactions[0]).toMatchObject({
      transaction_type: 'payment',
      status: 'pending',
      amount: '20',
      asset_name: 'Crumb',
      dataset_id: 'd1',
      transaction_hash: null,
    });
    expect(await balanceOf(ada)).toMatchObject({
      balance: '125',
      held: '20',
      available: '105',
      sendable: '105',
    });

    await db.transaction().execute((tx) => extendHold(tx, { holdId, amountMicro: 30_000_000n }));
    await db.transaction().execute((tx) => settle(tx, { holdId, amountMicro: 1_250_001n }));
    await sealTransfers(db);
    const { transactions, summary } = await statementOf(ada);
    expect(transactions).toHaveLength(2);
    expect(transactions[0]).toMatchObject({
      transaction_type: 'payment',
      status: 'completed',
      amount: '1.250001',
      asset_name: 'Crumb',
    });
    expect(transactions[0]?.transaction_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(summary?.total_cost_fine_tuning).toBe('1.250001');
  });

  test('names every kind of movement and sums costs by use, net of refunds', async () => {
    const ada = await signUp('Ada');
    const account = userAccount(ada.userId);
    const movements = [
      { from: PAYMENTS_ACCOUNT, to: account, kind: 'purchase', amount: 10n, word: 'deposit' },
      { from: account, to: PAYMENTS_ACCOUNT, kind: 'purchase', amount: 1n, word: 'withdrawal' },
      { from: account, to: GRANTS_ACCOUNT, kind: 'grant', amount: 2n, word: 'debit' },
      { from: account, to: revenueAccount('llm_inference'), kind: 'charge', amount: 7n, word: 'payment' },
      { from: revenueAccount('llm_inference'), to: account, kind: 'refund', amount: 3n, word: 'refund' },
      { from: account, to: revenueAccount('deployment'), kind: 'charge', amount: 5n, word: 'payment' },
      { from: account, to: revenueAccount('image_generation'), kind: 'charge', amount: 6n, word: 'payment' },
      { from: account, to: revenueAccount('video_generation'), kind: 'charge', amount: 8n, word: 'payment' },
    ] as const;
    for (const { from, to, kind, amount } of movements) {
      await db.transaction().execute((tx) =>
        transfer(tx, {
          debitAccountId: from,
          creditAccountId: to,
          amountMicro: amount * 1_000_000n,
          kind,
          description: kind,
          idempotencyKey: null,
        }),
      );
    }
    const { transactions, summary } = await statementOf(ada);
    expect(transactions.slice(0, -1).map((line) => line.transaction_type)).toEqual(
      movements.map((movement) => movement.word).reverse(),
    );
    expect(summary).toEqual({
      total_cost_video_generations: '8',
      total_cost_image_generations: '6',
      total_cost_fine_tuning: '0',
      total_cost_llm_inference: '4',
      other_costs: '5',
      total_token_transferred: '0',
    });

    const date = transactions[0]?.transaction_date.slice(0, 10) ?? '';
    const spend = (query: { to?: string }) =>
      server.request(listSpend, { params: { userId: ada.userId }, query }, { as: ada });
    expect(await spend({})).toEqual({
      days: [
        { date, use: 'deployment', amount: '5' },
        { date, use: 'image_generation', amount: '6' },
        { date, use: 'llm_inference', amount: '4' },
        { date, use: 'video_generation', amount: '8' },
      ],
    });
    expect(await spend({ to: '2000-01-01' })).toEqual({ days: [] });
  });

  test("counts days by the reader's calendar", async () => {
    const ada = await signUp('Ada');
    await db.transaction().execute((tx) =>
      transfer(tx, {
        debitAccountId: userAccount(ada.userId),
        creditAccountId: revenueAccount('llm_inference'),
        amountMicro: 1n,
        kind: 'charge',
        description: 'Tokens',
        idempotencyKey: null,
      }),
    );
    const [line] = (await statementOf(ada)).transactions;
    // Two places that never have the same date.
    const [early, late] = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'];
    const dayIn = (timeZone: string) =>
      new Date(line?.transaction_date ?? '').toLocaleDateString('en-CA', { timeZone });
    const shows = async (query: Parameters<typeof statementOf>[1]) =>
      (await statementOf(ada, query)).transactions.some((one) => one.transaction_id === line?.transaction_id);
    expect(await shows({ from: dayIn(early), to: dayIn(early), time_zone: early })).toBe(true);
    expect(await shows({ from: dayIn(late), to: dayIn(late), time_zone: late })).toBe(true);
    expect(await shows({ from: dayIn(early), time_zone: late })).toBe(false);
    expect(await shows({ to: dayIn(late), time_zone: early })).toBe(false);
    for (const time_zone of [early, late]) {
      const { days } = await server.request(
        listSpend,
        { params: { userId: ada.userId }, query: { time_zone } },
        { as: ada },
      );
      expect(days.map(({ date }) => date)).toEqual([dayIn(time_zone)]);
    }
    await expect(statementOf(ada, { time_zone: 'Mars/Olympus' })).rejects.toThrow(/time_zone must be/);
    await expect(statementOf(ada, { time_zone: '+02:00' })).rejects.toThrow(/time_zone must be/);
  });

  test('comes in pages that miss nothing and repeat nothing', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    for (let i = 0; i < 7; i += 1) await (i % 2 ? send(ada, bob.email, 1) : send(bob, ada.email, 2));
    const all = (await statementOf(ada)).transactions;
    const paged: typeof all = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof statementOf>> = await statementOf(ada, {
        limit: 3,
        ...(cursor && { cursor }),
      });
      // What the whole period sums to is said once.
      expect(page.summary === null).toBe(cursor !== null);
      paged.push(...page.transactions);
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(all).toHaveLength(8);
    expect(paged).toEqual(all);
    await expect(statementOf(ada, { cursor: 'x' })).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'cursor' } },
    });
  });

  test('can be cut to days, both inclusive; the sums are those of the days', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    await send(ada, bob.email, 1);
    const today = (await statementOf(ada)).transactions[0]?.transaction_date.slice(0, 10) ?? '';
    const yesterday = new Date(Date.parse(today) - 86_400_000).toISOString().slice(0, 10);
    expect((await statementOf(ada, { from: today, to: today })).summary?.total_token_transferred).toBe('1');
    const before = await statementOf(ada, { to: yesterday });
    expect(before.transactions).toEqual([]);
    expect(before.summary?.total_token_transferred).toBe('0');
  });

  test("sums whole days, their ends by the reader's calendar, and what is not sealed yet, each transfer once", async () => {
    const ada = await signUp('Ada');
    const sent = 60;
    const from = Date.parse('2030-01-01T00:30:00Z');
    for (let i = 0; i < sent; i += 1) {
      // One each five hours and a bit, so that every part of a day has some.
      const at = new Date(from + i * 5.3 * 3_600_000);
      await sql`
        insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs, created_at)
        values (${userAccount(ada.userId)}, 'revenue:llm_inference', ${2n ** BigInt(i % 20)}, 'charge', 'Chat', '{}', ${at})`.execute(
        db,
      );
      if (i === 40) await sealTransfers(db);
    }
    const plain = async (period: { from?: string; to?: string; time_zone: string }) => {
      const { rows } = await sql<{ sum: bigint }>`
        select coalesce(sum(amount), 0)::bigint as sum from ledger_transfers
        where debit_account_id = ${userAccount(ada.userId)}
          and (${period.from ?? null}::date is null
            or created_at >= ${period.from ?? null}::date::timestamp at time zone ${period.time_zone}::text)
          and (${period.to ?? null}::date is null
            or created_at < (${period.to ?? null}::date + 1)::timestamp at time zone ${period.time_zone}::text)`.execute(
        db,
      );
      return formatBgl(rows[0]?.sum ?? 0n);
    };
    const periods = [
      {},
      { from: '2030-01-03', to: '2030-01-08' },
      { from: '2030-01-03', to: '2030-01-03' },
      { from: '2030-01-05' },
      { to: '2030-01-11' },
      { from: '2030-02-01' },
    ];
    for (const time_zone of ['UTC', 'Asia/Kolkata', 'America/New_York', 'Pacific/Kiritimati']) {
      for (const period of periods) {
        const { summary } = await statementOf(ada, { ...period, time_zone });
        expect(summary?.total_cost_llm_inference).toBe(await plain({ ...period, time_zone }));
      }
    }
    await sql`
      update ledger_accounts set debits_posted = debits_posted
        + (select sum(amount) from ledger_transfers where debit_account_id = ${userAccount(ada.userId)})
      where id = ${userAccount(ada.userId)}`.execute(db);
  });

  test('of another person is refused', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const theirs = server.request(
      listTransactions,
      { params: { userId: bob.userId }, query: {} },
      { as: ada },
    );
    await expect(theirs).rejects.toMatchObject({ status: 403 });
  });
});

describe('the operator', () => {
  test('grants credits, once per key', async () => {
    const ada = await signUp('Ada');
    const body = { recipient_id: ada.email, amount: '1000', description: 'Welcome' };
    const idempotencyKey = randomUUID();
    const first = await server.request(grantCredits, { body }, { as: operator, idempotencyKey });
    expect(await server.request(grantCredits, { body }, { as: operator, idempotencyKey })).toEqual(first);
    expect(await balanceOf(ada)).toMatchObject({ available: '1125' });
    const audit = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('action', '=', 'credits.granted')
      .execute();
    expect(audit).toMatchObject([
      { user_id: operator.userId, detail: { recipient_id: ada.userId, amount: '1000' } },
    ]);
    expect((await statementOf(ada)).transactions[0]).toMatchObject({
      transaction_type: 'credit',
      description: 'Welcome',
    });
  });

  test('books a chargeback: the user pays what he could send, and owes the rest', async () => {
    const ada = await signUp('Ada');
    const body = { payer_id: ada.email, amount: '200', description: 'Card 4242' };
    const idempotencyKey = randomUUID();
    const first = await server.request(chargeBackPayment, { body }, { as: operator, idempotencyKey });
    expect(first).toMatchObject({ amount: '200', collected: '125', owed: '75' });
    expect(await server.request(chargeBackPayment, { body }, { as: operator, idempotencyKey })).toEqual(
      first,
    );
    expect(await balanceOf(ada)).toMatchObject({ balance: '0' });
    expect((await statementOf(ada)).transactions[0]).toMatchObject({
      transaction_type: 'withdrawal',
      amount: '125',
      description: 'Payment that was taken back',
    });

    await server.request(
      grantCredits,
      { body: { recipient_id: ada.email, amount: '100' } },
      { as: operator, idempotencyKey: randomUUID() },
    );
    await collectDebtsJob.run(server.services, {}, new AbortController().signal);
    expect(await balanceOf(ada)).toMatchObject({ balance: '25', sendable: '25' });
    const nobody = { payer_id: 'nobody-at-all', amount: 1 };
    await expect(
      server.request(chargeBackPayment, { body: nobody }, { as: operator, idempotencyKey: randomUUID() }),
    ).rejects.toMatchObject({ status: 404, body: { error: { param: 'payer_id' } } });
  });

  test('reads the whole ledger with its proofs', async () => {
    await sealTransfers(db);
    const ledger = await server.request(getLedger, {}, { as: operator });
    expect(ledger.checks.map((check) => [check.name, check.ok])).toEqual([
      ['sum', true],
      ['balances', true],
      ['holds', true],
      ['given', true],
      ['available', true],
      ['settlements', true],
      ['portions', true],
      ['usage', true],
      ['totals', true],
      ['chain', true],
    ]);
    expect(ledger.sum_of_balances).toBe('0');
    expect(ledger.sealed_transfers).toBe(ledger.transfers);
    expect(ledger.chain_head).toMatch(/^[0-9a-f]{64}$/);
    expect(ledger.accounts).toContainEqual(
      expect.objectContaining({ owner: await usernameOf(operator), balance: '125' }),
    );
  });

  test('sees of many accounts the largest, and how many there are', async () => {
    await Promise.all(Array.from({ length: 200 }, () => insertTestUser(db)));
    const { accounts, accounts_total } = await server.request(getLedger, {}, { as: operator });
    const users = accounts.filter((account) => account.kind === 'user');
    expect(users).toHaveLength(200);
    expect(accounts_total).toBeGreaterThan(accounts.length);
    const balances = users.map((account) => parseBgl(account.balance));
    expect(balances).toEqual(balances.toSorted((a, b) => Number(b - a)));
    expect(balances.at(0)).toBeGreaterThan(0n);
  });

  test('cannot grant more than the ledger can count', async () => {
    const body = { recipient_id: operator.userId, amount: '1000000000000' };
    const grant = server.request(grantCredits, { body }, { as: operator });
    await expect(grant).rejects.toMatchObject({ status: 400, body: { error: { param: 'amount' } } });
  });

  test('grants to a person who has never signed in', async () => {
    const row = { id: 'never-in-2', name: 'Never', username: 'never-in-2', email: 'never-in-2@example.com' };
    await db.insertInto('users').values(row).execute();
    const body = { recipient_id: row.email, amount: '3' };
    await server.request(grantCredits, { body }, { as: operator });
    expect(await availableMicro(db, row.id)).toBe(3_000_000n);
  });

  test('cannot grant to nobody', async () => {
    const grant = server.request(
      grantCredits,
      { body: { recipient_id: 'nobody', amount: 1 } },
      { as: operator },
    );
    await expect(grant).rejects.toMatchObject({ status: 404, body: { error: { param: 'recipient_id' } } });
  });

  test('is the only one who may', async () => {
    const ada = await signUp('Ada');
    await expect(server.request(getLedger, {}, { as: ada })).rejects.toMatchObject({ status: 403 });
    const grant = server.request(grantCredits, { body: { recipient_id: ada.email, amount: 1 } }, { as: ada });
    await expect(grant).rejects.toMatchObject({ status: 403 });
  });
});

test('anybody can read the prices', async () => {
  const { prices } = await server.request(listPrices, {});
  expect(prices).toContainEqual({
    id: 'training:NVIDIA_TESLA_A100',
    label: 'Training on NVIDIA Tesla A100 (40GB)',
    unit: 'hour',
    unit_price: '40',
  });
});
