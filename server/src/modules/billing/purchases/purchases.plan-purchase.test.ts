import { expect, test } from 'vitest';
import type { Payment } from './payment-provider.ts';
import { planPurchase } from './purchases.ts';

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
  ['does nothing before the payment is final', open, payment({ status: 'open', paid: null }), null],
  ['credits a final payment', open, payment(), { kind: 'credit', cents: 2_000 }],
  [
    'credits a payment after the purchase had failed or expired',
    { ...open, status: 'expired' },
    payment(),
    { kind: 'credit', cents: 2_000 },
  ],
  [
    'closes an expired purchase',
    open,
    payment({ status: 'expired', paid: null }),
    { kind: 'close', status: 'expired' },
  ],
  [
    'does nothing after the end',
    { ...open, status: 'failed' },
    payment({ status: 'failed', paid: null }),
    null,
  ],
  [
    'refuses to credit a deleted account',
    { ...open, account_deleted: true },
    payment(),
    { kind: 'refuse', reason: 'the account was deleted' },
  ],
  ['does nothing after a refusal', { ...open, status: 'refused' }, payment(), null],
  ['does nothing twice', paid, payment(), null],
  [
    'does nothing for an unpaid state after a refund',
    { ...paid, reversed_cents: 2_000 },
    payment({ status: 'expired', paid: null }),
    null,
  ],
  ['reverses a partial refund', paid, payment({ reversedCents: 500 }), { kind: 'reverse', cents: 500 }],
  [
    'reverses the rest of a refund',
    { ...paid, reversed_cents: 500 },
    payment({ reversedCents: 2_000 }),
    { kind: 'reverse', cents: 1_500 },
  ],
  [
    'reverses at most the paid amount',
    paid,
    payment({ reversedCents: 3_000 }),
    { kind: 'reverse', cents: 2_000 },
  ],
  [
    'reinstates a won dispute',
    { ...paid, reversed_cents: 2_000 },
    payment(),
    { kind: 'reinstate', cents: 2_000 },
  ],
  [
    'refuses to reinstate a won dispute of a deleted account',
    { ...paid, reversed_cents: 2_000, account_deleted: true },
    payment(),
    { kind: 'refuse', reason: 'a refund failed or a dispute was won after the account was deleted' },
  ],
  [
    'credits a payment before its refund',
    open,
    payment({ reversedCents: 2_000 }),
    { kind: 'credit', cents: 2_000 },
  ],
] as const)('%s', (_name, purchase, found, step) => {
  expect(planPurchase(purchase, found)).toEqual(step);
});

test('rejects another amount or currency', () => {
  expect(planPurchase(open, payment({ paid: { cents: 1, currency: 'usd' } }))).toMatchObject({
    kind: 'refuse',
  });
  expect(planPurchase(open, payment({ paid: { cents: 2_000, currency: 'jpy' } }))).toMatchObject({
    kind: 'refuse',
  });
});
