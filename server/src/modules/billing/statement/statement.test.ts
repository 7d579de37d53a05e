import { randomUUID } from 'node:crypto';
import { createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import { getBalance, listSpend, listTransactions } from '@bakehouse/contract/credits';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { GRANTS_ACCOUNT, PAYMENTS_ACCOUNT, revenueAccount, userAccount } from '../ledger/accounts.ts';
import { extendHold, hold, settle } from '../ledger/holds/holds.ts';
import { transfer } from '../ledger/transfer.ts';
import { creditsServer } from '../testing/credits-server.ts';
import { sealTransfers } from '../verification/chain.ts';

const { server, db, signUp, balanceOf, statementOf, send } = await creditsServer();

describe('a new account', () => {
  test('starts with the grant as a transfer', async () => {
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

function holdFor(
  { userId }: TestUser,
  { amountMicro, references = {} }: { amountMicro: bigint; references?: Record<string, string> | undefined },
) {
  const idempotencyKey = randomUUID();
  const expiresAt = new Date('2100-01-01');
  const what = { kind: 'fine_tuning', description: 'Fine-tune of Crumb' } as const;
  return db
    .transaction()
    .execute((tx) => hold(tx, { ...what, userId, amountMicro, references, expiresAt, idempotencyKey }));
}

describe('the statement', () => {
  test('shows holds as pending, then the charge, with its subject', async () => {
    const ada = await signUp('Ada');
    const { holdId } = await holdFor(ada, {
      amountMicro: 20_000_000n,
      references: { asset_name: 'Crumb', dataset_id: 'd1', run_id: 'r1', generation_id: 'g1' },
    });
    expect((await statementOf(ada)).transactions[0]).toMatchObject({
      transaction_type: 'payment',
      status: 'pending',
      amount: '20',
      asset_name: 'Crumb',
      ...{ dataset_id: 'd1', run_id: 'r1', generation_id: 'g1' },
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
      generation_id: 'g1',
    });
    expect(transactions[0]?.transaction_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(summary?.total_cost_fine_tuning).toBe('1.250001');
  });

  test('shows a hold that is settled during the request once, either as held or as charged', async () => {
    const ada = await signUp('Ada');
    const { holdId } = await holdFor(ada, { amountMicro: 20_000_000n });
    const reading = await db.transaction().execute(async (tx) => {
      await sql`lock table ledger_transfers in access exclusive mode`.execute(tx);
      const statement = statementOf(ada);
      // The request has read the holds and now waits for the transfers.
      await expect
        .poll(async () => {
          const { rows } = await sql`
            select from pg_locks where relation = 'ledger_transfers'::regclass and not granted`.execute(tx);
          return rows.length;
        })
        .toBeGreaterThan(0);
      await settle(tx, { holdId, amountMicro: 5_000_000n });
      return { statement };
    });
    const { transactions, summary } = await reading.statement;
    expect(transactions.map(({ status, amount }) => [status, amount])).toEqual([
      ['pending', '20'],
      ['completed', '125'],
    ]);
    expect(summary?.total_cost_fine_tuning).toBe('0');
    expect((await statementOf(ada)).summary?.total_cost_fine_tuning).toBe('5');
  });

  test('names every kind of movement, and sums costs by use after refunds', async () => {
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
    const spend = (query: { from?: string; to?: string }) =>
      server.request(listSpend, { params: { userId: ada.userId }, query }, { as: ada });
    expect(await spend({})).toMatchObject({
      to: date,
      days: [
        { date, use: 'deployment', amount: '5' },
        { date, use: 'image_generation', amount: '6' },
        { date, use: 'llm_inference', amount: '4' },
        { date, use: 'video_generation', amount: '8' },
      ],
      keys: [{ key_id: null, key_name: null, amount: '23', sent: '0' }],
    });
    const before = { from: '1999-12-03', to: '2000-01-01' };
    expect(await spend({ to: before.to })).toEqual({ ...before, days: [], keys: [] });
    await expect(spend({ from: '2000-01-01' })).rejects.toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', param: 'from' } },
    });
  });

  test('reports the cost of each API key, also of revoked ones', async () => {
    const ada = await signUp('Ada');
    const makeKey = async (name: string) =>
      (await server.request(createApiKey, { params: { userId: ada.userId }, body: { name } }, { as: ada }))
        .api_key.id;
    const [large, small] = [await makeKey('Nightly'), await makeKey('Notebook')];
    for (const [key_id, amountMicro] of [
      [small, 1_000_000n],
      [large, 5_000_000n],
      [large, 2_000_000n],
    ] as const) {
      await db.transaction().execute((tx) =>
        transfer(tx, {
          debitAccountId: userAccount(ada.userId),
          creditAccountId: revenueAccount('fine_tuning'),
          amountMicro,
          kind: 'charge',
          description: 'Fine-tune',
          references: { key_id, run_id: 'r1', model_id: 'm1' },
          idempotencyKey: null,
        }),
      );
    }
    await server.request(revokeApiKey, { params: { keyId: small } }, { as: ada });
    const { keys } = await server.request(
      listSpend,
      { params: { userId: ada.userId }, query: {} },
      { as: ada },
    );
    expect(keys).toEqual([
      { key_id: large, key_name: 'Nightly', amount: '7', sent: '0' },
      { key_id: small, key_name: 'Notebook', amount: '1', sent: '0' },
    ]);
    expect((await statementOf(ada)).transactions[0]).toMatchObject({ run_id: 'r1', model_id: 'm1' });

    // List the movements of one key page by page, with their sums.
    const first = await statementOf(ada, { key_id: large, limit: 1 });
    expect(first.summary).toMatchObject({ total_cost_fine_tuning: '7', total_token_transferred: '0' });
    const rest = await statementOf(ada, { key_id: large, limit: 1, cursor: first.next_cursor ?? undefined });
    expect([...first.transactions, ...rest.transactions].map(({ amount }) => amount)).toEqual(['2', '5']);
    expect(rest.next_cursor).toBeNull();
    expect((await statementOf(ada, { key_id: small })).transactions).toMatchObject([{ amount: '1' }]);
    // Another user's key matches nothing.
    const bob = await statementOf(await signUp('Bob'), { key_id: large });
    expect([bob.transactions, bob.summary?.total_cost_fine_tuning]).toEqual([[], '0']);
    await expect(statementOf(ada, { key_id: 'Nightly' })).rejects.toMatchObject({
      status: 404,
      body: { error: { param: 'key_id' } },
    });
  });

  test('lists holds with the API key that made them', async () => {
    const ada = await signUp('Ada');
    const made = { params: { userId: ada.userId }, body: { name: 'Nightly' } };
    const key_id = (await server.request(createApiKey, made, { as: ada })).api_key.id;
    for (const references of [{ key_id }, undefined])
      await holdFor(ada, { amountMicro: 1_000_000n, references });
    expect((await statementOf(ada)).transactions.filter(({ status }) => status === 'pending')).toHaveLength(
      2,
    );
    expect((await statementOf(ada, { key_id })).transactions).toMatchObject([{ status: 'pending' }]);
  });

  test('lists the holds first and then the transfers, page by page', async () => {
    const ada = await signUp('Ada');
    for (const amountMicro of [1_000_000n, 2_000_000n, 3_000_000n]) await holdFor(ada, { amountMicro });
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await statementOf(ada, { limit: 2, ...(cursor && { cursor }) });
      expect(page.summary === null).toBe(cursor !== undefined);
      pages.push(page.transactions.map(({ status, amount }) => `${status} ${amount}`));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(pages).toEqual([
      ['pending 3', 'pending 2'],
      ['pending 1', 'completed 125'],
    ]);
    expect((await statementOf(ada, { limit: 3 })).transactions).toHaveLength(3);
  });

  test("counts days in the reader's time zone", async () => {
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
    // In these two time zones, the date always differs.
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

  test('has pages without gaps or repetitions', async () => {
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
      // Only the first page contains the period's sums.
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

  test('can be limited to a range of days, with the sums of the range and the balance at its end', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    await send(ada, bob.email, 1);
    const today = (await statementOf(ada)).transactions[0]?.transaction_date.slice(0, 10) ?? '';
    const yesterday = new Date(Date.parse(today) - 86_400_000).toISOString().slice(0, 10);
    for (const seal of [async () => {}, () => sealTransfers(db)]) {
      await seal();
      const ofToday = await statementOf(ada, { from: today, to: today });
      expect(ofToday.summary?.total_token_transferred).toBe('1');
      expect(ofToday.closing_balance).toBe('124');
      expect((await statementOf(ada)).closing_balance).toBe('124');
    }
    const before = await statementOf(ada, { to: yesterday });
    expect(before.transactions).toEqual([]);
    expect(before.closing_balance).toBe('0');
    expect(before.summary?.total_token_transferred).toBe('0');
  });

  test('of another user is rejected', async () => {
    const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
    const theirs = server.request(
      listTransactions,
      { params: { userId: bob.userId }, query: {} },
      { as: ada },
    );
    await expect(theirs).rejects.toMatchObject({ status: 403 });
  });
});
