import { expect, test } from 'vitest';
import type { Payment } from './payment-provider.ts';
import { planPurchase } from './plan-purchase.ts';

const open = { status: 'open', usd_cents: 2_000, reversed_cents: 0, account_deleted: false } as const;
const paid = { ...open, status: 'paid' } as const;
const payment = (part: Partial<Payment> = {}): Payment => ({
  status: 'paid',
  paid: { cents: 2_000, currency: 'usd' },
  paymentId: 'pi',
  receiptUrl: null,
  reversedCents: 0,
  ...part,
});

test.each([
  ['nothing before the money is sure', open, payment({ status: 'open', paid: null }), null],
  ['the credit once it is', open, payment(), { kind: 'credit', cents: 2_000 }],
  [
    'also after it had failed or expired',
    { ...open, status: 'expired' },
    payment(),
    { kind: 'credit', cents: 2_000 },
  ],
  ['the end', open, payment({ status: 'expired', paid: null }), { kind: 'close', status: 'expired' }],
  [
    'nothing more after the end',
    { ...open, status: 'failed' },
    payment({ status: 'failed', paid: null }),
    null,
  ],
  [
    'nothing to an account that was deleted',
    { ...open, account_deleted: true },
    payment(),
    { kind: 'refuse', reason: 'the account was deleted' },
  ],
  ['nothing more where a person has to look', { ...open, status: 'refused' }, payment(), null],
  ['nothing twice', paid, payment(), null],
  [
    'nothing for what is said to be unpaid after it was refunded',
    { ...paid, reversed_cents: 2_000 },
    payment({ status: 'expired', paid: null }),
    null,
  ],
  ['a part that was refunded', paid, payment({ reversedCents: 500 }), { kind: 'reverse', cents: 500 }],
  [
    'the rest of it',
    { ...paid, reversed_cents: 500 },
    payment({ reversedCents: 2_000 }),
    { kind: 'reverse', cents: 1_500 },
  ],
  ['at most what was paid', paid, payment({ reversedCents: 3_000 }), { kind: 'reverse', cents: 2_000 }],
  [
    'a dispute that was won',
    { ...paid, reversed_cents: 2_000 },
    payment(),
    { kind: 'reinstate', cents: 2_000 },
  ],
  [
    'no dispute that was won to an account that was deleted',
    { ...paid, reversed_cents: 2_000, account_deleted: true },
    payment(),
    { kind: 'refuse', reason: 'a refund failed or a dispute was won after the account was deleted' },
  ],
  [
    'a refund before the credit: first the credit',
    open,
    payment({ reversedCents: 2_000 }),
    { kind: 'credit', cents: 2_000 },
  ],
] as const)('%s', (_name, purchase, found, step) => {
  expect(planPurchase(purchase, found)).toEqual(step);
});

test('another amount or currency is no payment of it', () => {
  expect(planPurchase(open, payment({ paid: { cents: 1, currency: 'usd' } }))).toMatchObject({
    kind: 'refuse',
  });
  expect(planPurchase(open, payment({ paid: { cents: 2_000, currency: 'jpy' } }))).toMatchObject({
    kind: 'refuse',
  });
});
