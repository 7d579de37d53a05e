import { randomUUID } from 'node:crypto';
import { listNotifications } from '@bakehouse/contract/notifications';
import { listPurchases, startPurchase } from '@bakehouse/contract/purchases';
import { sql } from 'kysely';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { untilWaiting } from '../../../testing/test-database.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { syncPurchasesJob } from '../jobs/sync-purchases.ts';
import { hasOpenPayment, lockTotals } from '../steps.ts';
import { creditsServer } from '../testing/credits-server.ts';
import { disputeOf, pay, type Session, signed, stripeServer } from '../testing/stripe-server.ts';

const stripe = await stripeServer();
afterAll(() => stripe.close());
const { server, db, auditOf, balanceOf, statementOf, send, signUpOperator } = await creditsServer({
  stripe: stripe.config,
});

const buy = (who: TestUser, usd: string, idempotencyKey: string = randomUUID()) =>
  server.request(startPurchase, { body: { user_id: who.userId, usd } }, { as: who, idempotencyKey });
const purchasesOf = async (who: TestUser) =>
  (await server.request(listPurchases, { params: { userId: who.userId } }, { as: who })).purchases;
const deliver = (request: { body: string; headers: Record<string, string> }) =>
  fetch(new URL('/api/payments/stripe', server.url), { method: 'POST', ...request });
const sync = () => syncPurchasesJob.run(server.services, {}, new AbortController().signal);
/** Backdates the user's purchases. */
const age = (who: TestUser) =>
  db
    .updateTable('purchases')
    .set({ created_at: new Date('2020-01-01') })
    .where('user_id', '=', who.userId)
    .execute();
const notificationsOf = (who: TestUser) =>
  server.request(listNotifications, { params: { userId: who.userId } }, { as: who });
/** Starts a new user's purchase of 20 dollars, and returns its payment session. */
async function begin() {
  const ada = await server.signUp('Ada');
  const key = randomUUID();
  const { purchase_id } = await buy(ada, '20', key);
  return { ada, key, purchase_id, session: stripe.sessionOf(purchase_id) };
}
async function bought() {
  const begun = await begin();
  const event = pay(begun.session);
  expect((await deliver(signed(event))).status).toBe(200);
  return { ...begun, event };
}

describe('a purchase', () => {
  test("opens the provider's page, and returns the same page for the same key", async () => {
    const ada = await server.signUp('Ada');
    const key = randomUUID();
    const first = await buy(ada, '12.34', key);
    expect(await buy(ada, '12.34', key)).toEqual(first);
    expect(stripe.sessionOf(first.purchase_id)).toMatchObject({ amount_total: 1_234, currency: 'usd' });
    expect(first.checkout_url).toBe(stripe.sessionOf(first.purchase_id).url);
    expect(await purchasesOf(ada)).toMatchObject([
      { id: first.purchase_id, status: 'open', usd: '12.34', amount: '308.5', receipt_url: null },
    ]);
    await expect(buy(ada, '50', key)).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  test('is listed page by page, newest first', async () => {
    const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
    await sql`
      insert into purchases (user_id, usd_cents, amount_micro, session_id, status)
      select ${ada.userId}, 100 * number, 25000000::bigint * number, concat('cs_', number, ${ada.userId}::text), 'expired'
      from generate_series(1, 101) number`.execute(db);
    const pageFor = (who: TestUser, query: { limit?: number; cursor?: string }) =>
      server.request(listPurchases, { params: { userId: who.userId }, query }, { as: who });
    const newest = await pageFor(ada, { limit: 100 });
    expect(newest.purchases).toHaveLength(100);
    const cursor = newest.next_cursor ?? '';
    const rest = await pageFor(ada, { limit: 100, cursor });
    expect(rest).toMatchObject({ next_cursor: null, purchases: [{ status: 'expired' }] });
    const ids = [...newest.purchases, ...rest.purchases].map(({ id }) => id);
    expect(new Set(ids).size).toBe(101);
    await expect(pageFor(bob, { cursor })).rejects.toMatchObject({ status: 400 });
  });

  test('opens no second page, even if the provider no longer knows the first call', async () => {
    const { ada, session, key, purchase_id } = await begin();
    stripe.forgetKeys();
    await db
      .updateTable('users')
      .set({ email: `new-${ada.email}` })
      .where('id', '=', ada.userId)
      .execute();
    expect(await buy(ada, '20', key)).toEqual({ purchase_id, checkout_url: session.url });
    expect(stripe.countSessions(purchase_id)).toBe(1);
  });

  test('is not opened again after it was paid, and a later refund is still found', async () => {
    const { ada, session, key, purchase_id, event } = await bought();
    stripe.forgetKeys();
    const ended = { status: 409, code: 'conflict', body: { error: { param: 'Idempotency-Key' } } };
    await expect(buy(ada, '20', key)).rejects.toMatchObject(ended);
    expect(stripe.countSessions(purchase_id)).toBe(1);
    session.disputes = [{ status: 'lost', amount: 2_000 }];
    await deliver(signed(disputeOf(session)));
    await expect(buy(ada, '20', key)).rejects.toMatchObject(ended);
    await deliver(signed({ ...event, type: 'checkout.session.expired' }));
    expect(await balanceOf(ada)).toMatchObject({ balance: '0' });
  });

  test('opens no page if a process that died may have opened a page that the provider no longer recognises', async () => {
    const { ada, key, purchase_id } = await begin();
    const change = (row: { session_id: null; created_at?: Date }) =>
      db.updateTable('purchases').set(row).where('id', '=', purchase_id).execute();
    await change({ session_id: null });
    await db
      .updateTable('users')
      .set({ email: `new-${ada.email}` })
      .where('id', '=', ada.userId)
      .execute();
    await expect(buy(ada, '20', key)).rejects.toMatchObject({ status: 409, code: 'conflict' });
    stripe.forgetKeys();
    await change({ session_id: null, created_at: new Date('2020-01-01') });
    await expect(buy(ada, '20', key)).rejects.toMatchObject({ status: 409, code: 'conflict' });
    expect(stripe.countSessions(purchase_id)).toBe(1);
  });

  test('is credited once when paid, with a receipt, as sendable credits', async () => {
    const { ada, session, purchase_id } = await begin();
    expect(await balanceOf(ada)).toMatchObject({ balance: '0' });
    expect((await deliver(signed(pay(session)))).status).toBe(200);
    expect(await balanceOf(ada)).toMatchObject({ balance: '500', sendable: '500' });
    expect(await purchasesOf(ada)).toMatchObject([
      { status: 'paid', usd: '20', receipt_url: `https://pay.stripe.com/receipts/${session.id}` },
    ]);
    expect((await statementOf(ada)).transactions).toMatchObject([
      { transaction_type: 'deposit', amount: '500', description: 'Purchase for $20.00' },
    ]);
    expect(await auditOf(ada, 'purchase.started', 'credits.bought')).toMatchObject([
      { action: 'purchase.started', detail: { purchase_id, amount: '500' } },
      { action: 'credits.bought', detail: { purchase_id, amount: '500' } },
    ]);
  });

  test('is credited once, even with repeated and concurrent events', async () => {
    const { ada, event } = await bought();
    const answers = await Promise.all(Array.from({ length: 8 }, () => deliver(signed(event))));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect(await balanceOf(ada)).toMatchObject({ balance: '500' });
  });

  test('credits nothing while it is unpaid, whatever the event is called', async () => {
    const { ada, session } = await begin();
    // Some payment methods take days: the user has finished the page, but the money has not arrived.
    Object.assign(session, { status: 'complete', intent: { id: `pi_${session.id}`, status: 'processing' } });
    await deliver(
      signed({
        type: 'checkout.session.completed',
        object: { ...session, object: 'checkout.session' },
      }),
    );
    expect(await purchasesOf(ada)).toMatchObject([{ status: 'open' }]);
    Object.assign(session, { intent: { id: `pi_${session.id}`, status: 'requires_payment_method' } });
    await deliver(
      signed({
        type: 'checkout.session.async_payment_failed',
        object: { ...session, object: 'checkout.session' },
      }),
    );
    expect(await purchasesOf(ada)).toMatchObject([{ status: 'failed' }]);
    expect(await auditOf(ada, 'purchase.closed')).toMatchObject([{ detail: { status: 'failed' } }]);
    expect(await balanceOf(ada)).toMatchObject({ balance: '0' });
  });

  test.each([
    ['another secret', { secret: 'whsec_forged' }, 1],
    ['an old timestamp', { timestamp: 1_000_000_000 }, 0],
  ])('rejects an event with %s, and logs the first', async (_name, forgery, logged) => {
    using warn = vi.spyOn(server.services.log, 'warn');
    const { ada, session } = await begin();
    expect((await deliver(signed(pay(session), forgery))).status).toBe(400);
    expect(warn).toHaveBeenCalledTimes(logged);
    expect(await balanceOf(ada)).toMatchObject({ balance: '0' });
  });

  test('rejects an event with a missing or wrong signature', async () => {
    const { ada, session } = await begin();
    const { body, headers } = signed(pay(session));
    expect((await deliver({ body, headers: { 'content-type': 'application/json' } })).status).toBe(400);
    expect((await deliver({ body: `${body} `, headers })).status).toBe(400);
    for (const malformed of ['t=1,v1=', 't=,v1=a', 'v1', 't=1,v0=a', '']) {
      const answer = await deliver({ body, headers: { ...headers, 'stripe-signature': malformed } });
      expect([malformed, answer.status]).toEqual([malformed, 400]);
    }
    expect(await balanceOf(ada)).toMatchObject({ balance: '0' });
  });

  test('is found by the job if the event is lost', async () => {
    const { ada, session } = await begin();
    pay(session);
    await age(ada);
    await sync();
    expect(await balanceOf(ada)).toMatchObject({ balance: '500' });
  });

  test('is found by its event if the process that opened its page died', async () => {
    const { ada, session } = await begin();
    await db.updateTable('purchases').set({ session_id: null }).where('user_id', '=', ada.userId).execute();
    await deliver(signed(pay(session)));
    expect(await balanceOf(ada)).toMatchObject({ balance: '500' });
  });

  test('is not credited if another amount was paid, and operators are notified once', async () => {
    const operator = await signUpOperator();
    const { ada, session } = await begin();
    const event = pay(session);
    session.amount_total = 1;
    await deliver(signed(event));
    await deliver(signed(event));
    expect(await balanceOf(ada)).toMatchObject({ balance: '0' });
    expect(await purchasesOf(ada)).toMatchObject([{ status: 'refused' }]);
    expect(await auditOf(ada, 'purchase.refused')).toMatchObject([
      { detail: { reason: '2000 cents (USD) were due, and 1 came' } },
    ]);
    expect(await notificationsOf(operator)).toMatchObject([
      {
        kind: 'payment_refused',
        message: 'A payment was not credited: 2000 cents (USD) were due, and 1 came',
      },
    ]);
  });

  test('is left to the operators if the account was deleted before the payment arrived', async () => {
    const operator = await signUpOperator();
    const { ada, session } = await begin();
    await db.updateTable('users').set({ deleted_at: new Date() }).where('id', '=', ada.userId).execute();
    await deliver(signed(pay(session)));
    expect(
      await db
        .selectFrom('ledger_accounts')
        .select('credits_posted')
        .where('owner_user_id', '=', ada.userId)
        .execute(),
    ).toEqual([{ credits_posted: 0n }]);
    expect(await notificationsOf(operator)).toMatchObject([
      { message: 'A payment was not credited: the account was deleted' },
    ]);
  });

  test('opens no page while the account is being deleted', async () => {
    const ada = await server.signUp('Ada');
    const { buying } = await db.transaction().execute(async (tx) => {
      await lockTotals(tx, ada.userId);
      const begun = buy(ada, '20').catch((error: unknown) => error);
      await untilWaiting(db);
      await tx.updateTable('users').set({ deleted_at: new Date() }).where('id', '=', ada.userId).execute();
      return { buying: begun };
    });
    expect(await buying).toMatchObject({ status: 409 });
    expect(await purchasesOf(ada)).toEqual([]);
  });

  test("blocks the account's deletion for some minutes while its page may be about to open", async () => {
    const ada = await server.signUp('Ada');
    const isOpen = () =>
      db.transaction().execute((tx) => hasOpenPayment(tx, { userId: ada.userId, now: new Date() }));
    await db
      .insertInto('purchases')
      .values({ user_id: ada.userId, usd_cents: 100, amount_micro: 25_000_000n })
      .execute();
    expect(await isOpen()).toBe(true);
    await db
      .updateTable('purchases')
      .set({ created_at: new Date(Date.now() - 3_600_000) })
      .where('user_id', '=', ada.userId)
      .execute();
    expect(await isOpen()).toBe(false);
  });

  test('does not block other purchases if the provider no longer knows it', async () => {
    const { ada: lost, purchase_id } = await begin();
    const { ada, session } = await begin();
    pay(session);
    await age(lost);
    await age(ada);
    await db
      .updateTable('purchases')
      .set({ session_id: 'cs_unknown', created_at: new Date('2019-01-01') })
      .where('id', '=', purchase_id)
      .execute();
    await sync();
    expect(await balanceOf(ada)).toMatchObject({ balance: '500' });
    const checked = await db
      .selectFrom('purchases')
      .select('checked_at')
      .where('id', '=', purchase_id)
      .executeTakeFirst();
    expect(checked?.checked_at).not.toBeNull();
  });

  test('is credited later, by a repeated event, if the provider was unreachable', async () => {
    const { ada, session } = await begin();
    const event = signed(pay(session));
    stripe.state.down = true;
    expect((await deliver(event)).status).toBeGreaterThanOrEqual(500);
    await expect(buy(ada, '5')).rejects.toMatchObject({ status: 503, code: 'unavailable' });
    stripe.state.down = false;
    expect((await deliver(event)).status).toBe(200);
    expect(await balanceOf(ada)).toMatchObject({ balance: '500' });
  });
});

describe('reversals', () => {
  const charge = (session: Session) => ({
    type: 'charge.refunded',
    object: {
      object: 'charge',
      id: `ch_${session.id}`,
      metadata: session.metadata,
      payment_intent: session.intent?.id,
    },
  });

  test('a refund reduces the balance step by step', async () => {
    const { ada, session } = await bought();
    session.refunded = 500;
    await deliver(signed(charge(session)));
    await deliver(signed(charge(session)));
    expect(await balanceOf(ada)).toMatchObject({ balance: '375' });
    session.refunded = 2_000;
    await deliver(signed(charge(session)));
    expect(await balanceOf(ada)).toMatchObject({ balance: '0' });
    expect(await purchasesOf(ada)).toMatchObject([{ status: 'paid', reversed: '500' }]);
  });

  test('a refund without an event is found a day later, while the payment may be disputed', async () => {
    const { ada, session } = await bought();
    session.refunded = 500;
    const paidBefore = (days: number) =>
      db
        .updateTable('purchases')
        .set({ paid_at: new Date(Date.now() - days * 24 * 3_600_000) })
        .where('user_id', '=', ada.userId)
        .execute();
    await sync();
    expect(await balanceOf(ada)).toMatchObject({ balance: '500' });
    await paidBefore(121);
    await sync();
    expect(await balanceOf(ada)).toMatchObject({ balance: '500' });
    await paidBefore(2);
    await sync();
    expect(await balanceOf(ada)).toMatchObject({ balance: '375' });
    session.refunded = 2_000;
    await sync();
    expect(await balanceOf(ada)).toMatchObject({ balance: '375' });
  });

  test("a refund that arrives before the payment's event is booked as one payment and one reversal", async () => {
    const { ada, session } = await begin();
    const event = pay(session);
    session.refunded = 2_000;
    await deliver(signed(charge(session)));
    await deliver(signed(event));
    expect(await balanceOf(ada)).toMatchObject({ balance: '0' });
    expect((await statementOf(ada)).transactions).toMatchObject([
      { transaction_type: 'withdrawal', amount: '500' },
      { transaction_type: 'deposit', amount: '500' },
    ]);
  });

  test('a won dispute returns the credits; what was spent during the dispute is owed', async () => {
    const { ada, session } = await bought();
    const bob = await server.signUp('Bob');
    await send(ada, bob.email, 400);
    session.disputes = [{ status: 'needs_response', amount: 2_000 }];
    const event = disputeOf(session);
    await deliver(signed(event));
    await deliver(signed(event));
    expect(await balanceOf(ada)).toMatchObject({ balance: '0', sendable: '0' });
    session.disputes = [{ status: 'won', amount: 2_000 }];
    await deliver(signed({ ...event, type: 'charge.dispute.closed' }));
    // 400 of the 500 credits were spent during the dispute, and are still owed.
    expect(await balanceOf(ada)).toMatchObject({ balance: '500', sendable: '100' });
    expect(await purchasesOf(ada)).toMatchObject([{ reversed: '0' }]);
    expect(await auditOf(ada, 'credits.reversed', 'credits.reinstated')).toMatchObject([
      { action: 'credits.reversed', detail: { amount: '500' } },
      { action: 'credits.reinstated', detail: { amount: '500' } },
    ]);
  });
});

test('a dispute after the account was deleted leaves no debt: the installation bears the loss', async () => {
  const { ada, session } = await bought();
  await send(ada, (await server.signUp('Bob')).email, 400);
  await db.updateTable('users').set({ deleted_at: new Date() }).where('id', '=', ada.userId).execute();
  session.disputes = [{ status: 'lost', amount: 2_000 }];
  await deliver(signed(disputeOf(session)));
  expect(await db.transaction().execute((tx) => lockTotals(tx, ada.userId))).toMatchObject({ owed: 0n });
  expect(await auditOf(ada, 'credits.written_off')).toMatchObject([{ detail: { amount: '400' } }]);
});

test.each(['0.99', '10000.01', '1.234', '-5', 'five'])('rejects a payment of %s dollars', async (usd) => {
  const ada = await server.signUp('Ada');
  await expect(buy(ada, usd)).rejects.toMatchObject({ status: 400, body: { error: { param: 'usd' } } });
});
