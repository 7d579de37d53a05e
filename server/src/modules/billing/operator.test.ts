import { randomUUID } from 'node:crypto';
import { chargeBackPayment, getLedger, grantCredits, listPrices } from '@bakehouse/contract/credits';
import { parseBgl } from '@bakehouse/contract/money';
import { listNotifications } from '@bakehouse/contract/notifications';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { collectDebtsJob, verifyLedgerJob } from './jobs/ledger-jobs.ts';
import { availableMicro } from './ledger/available-micro.ts';
import { creditsServer } from './testing/credits-server.ts';
import { insertTestUser } from './testing/test-user.ts';
import { sealTransfers } from './verification/chain.ts';
import { proveLedger } from './verification/verify-ledger.ts';

const credits = await creditsServer();
const { server, db, signUp, balanceOf, statementOf, usernameOf } = credits;
const operator = await credits.signUpOperator();
const prove = () =>
  verifyLedgerJob(server.databaseUrl).run(server.services, {}, new AbortController().signal);

describe('the operator', () => {
  test('grants credits once per key', async () => {
    const ada = await signUp('Ada');
    const body = { recipient_id: ada.email, amount: '1000', description: 'Welcome' };
    const idempotencyKey = randomUUID();
    const first = await server.request(grantCredits, { body }, { as: operator, idempotencyKey });
    expect(await server.request(grantCredits, { body }, { as: operator, idempotencyKey })).toEqual(first);
    expect(await balanceOf(ada)).toMatchObject({ available: '1125' });
    expect(
      await server.request(listNotifications, { params: { userId: ada.userId } }, { as: ada }),
    ).toMatchObject([{ message: 'An operator granted you 1,000.00 BGL', amount: '1000' }]);
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

  test('notifies the user once of a grant or chargeback, even if the call is repeated much later', async () => {
    const ada = await signUp('Ada');
    const grant = () =>
      server.request(
        grantCredits,
        { body: { recipient_id: ada.userId, amount: '10' } },
        { as: operator, idempotencyKey: 'late-grant' },
      );
    const chargeBack = () =>
      server.request(
        chargeBackPayment,
        { body: { payer_id: ada.userId, amount: '5' } },
        { as: operator, idempotencyKey: 'late-chargeback' },
      );
    const first = [await grant(), await chargeBack()];
    await db.deleteFrom('idempotency_keys').where('user_id', '=', operator.userId).execute();
    const again = [await grant(), await chargeBack()];
    expect(again.map((one) => one.transaction_id)).toEqual(first.map((one) => one.transaction_id));
    expect(await balanceOf(ada)).toMatchObject({ balance: '130' });
    expect(
      await server.request(listNotifications, { params: { userId: ada.userId } }, { as: ada }),
    ).toHaveLength(1);
    const entries = await credits.auditOf(operator, 'credits.granted', 'credits.charged_back');
    const ofAda = entries.filter(({ detail }) => JSON.stringify(detail).includes(ada.userId));
    expect(ofAda.map(({ action }) => action)).toEqual(['credits.granted', 'credits.charged_back']);
  });

  test("gets the user's total debt in the response to a chargeback", async () => {
    const ada = await signUp('Ada');
    const chargeBack = async (amount: string) => {
      const body = { payer_id: ada.userId, amount };
      return server.request(chargeBackPayment, { body }, { as: operator });
    };
    expect(await chargeBack('135')).toMatchObject({ collected: '125', owed: '10' });
    expect(await chargeBack('1')).toMatchObject({ collected: '0', owed: '11' });
    await server.request(
      grantCredits,
      { body: { recipient_id: ada.userId, amount: '100' } },
      { as: operator },
    );
    expect(await chargeBack('5')).toMatchObject({ amount: '5', collected: '16', owed: '0' });
  });

  test('cannot grant to an unverified address if the server verifies addresses', async () => {
    const eve = await signUp('Eve');
    const grant = (recipient_id: string) => {
      const body = { recipient_id, amount: '10', description: 'Welcome' };
      return server.request(grantCredits, { body }, { as: operator });
    };
    server.services.config.mail = { host: 'mail', port: 25, tls: 'none', login: null, from: 'b@example.com' };
    try {
      await expect(grant(eve.email)).rejects.toThrow('This email address is not confirmed');
      expect((await grant(eve.userId)).amount).toBe('10');
      await db.updateTable('users').set({ email_verified: true }).where('id', '=', eve.userId).execute();
      expect((await grant(eve.email.toUpperCase())).amount).toBe('10');
    } finally {
      server.services.config.mail = null;
    }
  });

  test('books a chargeback: the sendable part is collected, and the user owes the rest', async () => {
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
    expect(await balanceOf(ada)).toMatchObject({ balance: '100', sendable: '25' });
    await collectDebtsJob.run(server.services, {}, new AbortController().signal);
    expect(await balanceOf(ada)).toMatchObject({ balance: '25', sendable: '25' });
    const nobody = { payer_id: 'nobody-at-all', amount: 1 };
    await expect(
      server.request(chargeBackPayment, { body: nobody }, { as: operator, idempotencyKey: randomUUID() }),
    ).rejects.toMatchObject({ status: 404, body: { error: { param: 'payer_id' } } });
  });

  test('requests a proof of the ledger without waiting for it', async () => {
    const look = () => server.request(getLedger, {}, { as: operator });
    const proofs = async () => {
      const { rows } = await sql<{ at: Date }>`select proved_at as at from ledger_last_proof`.execute(db);
      return rows.map(({ at }) => at);
    };
    const queued = async () => {
      const { rows } = await sql`
        select from pgboss.job where name = 'credits.verify-ledger' and state = 'created'`.execute(db);
      return rows.length;
    };
    await sealTransfers(db);
    const looks = await Promise.all([look(), look(), look()]);
    for (const { proof, is_being_proved } of looks)
      expect({ proof, is_being_proved }).toEqual({ proof: null, is_being_proved: true });
    expect([await proofs(), await queued()]).toEqual([[], 1]);

    const before = Date.now();
    await Promise.all([prove(), prove()]);
    const { proof, is_being_proved } = await look();
    expect(Date.parse(proof?.proved_at ?? '')).toBeGreaterThanOrEqual(before - 1000);
    expect(is_being_proved).toBe(false);
    // The last proof is recent, so none is made.
    const first = await proofs();
    await prove();
    expect(await proofs()).toEqual(first);

    await sql`update ledger_last_proof set proved_at = proved_at - interval '2 minutes'`.execute(db);
    const old = await look();
    expect(old.is_being_proved).toBe(true);
    expect(Date.parse(old.proof?.proved_at ?? '')).toBeLessThan(before);
    await prove();
    expect((await look()).is_being_proved).toBe(false);
    expect(await proofs()).not.toEqual(first);
  });

  test('sees the errors of a proof until a later proof finds none', async () => {
    const shift = (micro: number) =>
      sql`update ledger_sealed_totals set paid = paid + ${micro} where counterpart = 'payments'`.execute(db);
    const broken = async () => {
      await sql`update ledger_last_proof set proved_at = proved_at - interval '2 minutes'`.execute(db);
      await prove();
      const { proof } = await server.request(getLedger, {}, { as: operator });
      return proof?.checks.filter(({ ok }) => !ok).map(({ name }) => name);
    };
    await shift(1);
    expect(await broken()).toContain('totals');
    await shift(-1);
    expect(await broken()).toEqual([]);
  });

  test('reads the accounts and the proof of the ledger', async () => {
    await sealTransfers(db);
    await proveLedger(db);
    const ledger = await server.request(getLedger, {}, { as: operator });
    expect(ledger.proof?.checks.map((check) => [check.name, check.ok])).toEqual([
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
    expect(ledger.proof?.sum_of_balances).toBe('0');
    expect(ledger.proof?.sealed_transfers).toBe(ledger.proof?.transfers);
    expect(ledger.proof?.chain_head).toMatch(/^[0-9a-f]{64}$/);
    expect(ledger.accounts).toContainEqual(
      expect.objectContaining({ owner: await usernameOf(operator), balance: '125' }),
    );
  });

  test('sees the largest of many accounts, and their total number', async () => {
    await Promise.all(Array.from({ length: 200 }, () => insertTestUser(db)));
    const { accounts, accounts_total } = await server.request(getLedger, {}, { as: operator });
    const users = accounts.filter((account) => account.kind === 'user');
    expect(users).toHaveLength(200);
    expect(accounts_total).toBeGreaterThan(accounts.length);
    const balances = users.map((account) => parseBgl(account.balance));
    expect(balances).toEqual(balances.toSorted((a, b) => Number(b - a)));
    expect(balances.at(0)).toBeGreaterThan(0n);
  });

  test("cannot grant more than the ledger's integers can hold", async () => {
    const body = { recipient_id: operator.userId, amount: '1000000000000' };
    const grant = server.request(grantCredits, { body }, { as: operator });
    await expect(grant).rejects.toMatchObject({ status: 400, body: { error: { param: 'amount' } } });
  });

  test('grants to a user who has never signed in', async () => {
    const row = { id: 'never-in-2', name: 'Never', username: 'never-in-2', email: 'never-in-2@example.com' };
    await db.insertInto('users').values(row).execute();
    const body = { recipient_id: row.email, amount: '3' };
    await server.request(grantCredits, { body }, { as: operator });
    expect(await availableMicro(db, row.id)).toBe(3_000_000n);
  });

  test('cannot grant to an unknown user', async () => {
    const grant = server.request(
      grantCredits,
      { body: { recipient_id: 'nobody', amount: 1 } },
      { as: operator },
    );
    await expect(grant).rejects.toMatchObject({ status: 404, body: { error: { param: 'recipient_id' } } });
  });

  test('is the only user with these rights', async () => {
    const ada = await signUp('Ada');
    await expect(server.request(getLedger, {}, { as: ada })).rejects.toMatchObject({ status: 403 });
    const grant = server.request(grantCredits, { body: { recipient_id: ada.email, amount: 1 } }, { as: ada });
    await expect(grant).rejects.toMatchObject({ status: 403 });
  });
});

test('anyone can read the prices', async () => {
  const { prices } = await server.request(listPrices, {});
  expect(prices).toContainEqual({
    id: 'training:NVIDIA_TESLA_A100',
    label: 'Training on NVIDIA Tesla A100 (40GB)',
    unit: 'hour',
    unit_price: '40',
    next: null,
  });
});
