import { expect, test } from 'vitest';
import type { Payment } from './payment-provider.ts';
import { planPurchase } from './plan-purchase.ts';

const open = { status: 'open', usd_cents: 2_000, taken_back_cents: 0, account_deleted: false } as const;
const paid = { ...open, status: 'paid' } as const;
const seen = (part: Partial<Payment> = {}): Payment => ({
  status: 'paid',
  paid: { cents: 2_000, currency: 'usd' },
  paymentId: 'pi',
  receiptUrl: null,
  takenBackCents: 0,
  ...part,
});

test.each([
  ['nothing before the money is sure', open, seen({ status: 'open', paid: null }), null],
  ['the credit once it is', open, seen(), { kind: 'credit', cents: 2_000 }],
  [
    'also after it had failed or expired',
    { ...open, status: 'expired' },
    seen(),
    { kind: 'credit', cents: 2_000 },
  ],
  ['the end', open, seen({ status: 'expired', paid: null }), { kind: 'close', status: 'expired' }],
  ['nothing more after the end', { ...open, status: 'failed' }, seen({ status: 'failed', paid: null }), null],
  [
    'nothing to an account that was deleted',
    { ...open, account_deleted: true },
    seen(),
    { kind: 'refuse', reason: 'the account was deleted' },
  ],
  ['nothing more where a person has to look', { ...open, status: 'refused' }, seen(), null],
  ['nothing twice', paid, seen(), null],
  [
    'nothing for what is said to be unpaid after it was taken back',
    { ...paid, taken_back_cents: 2_000 },
    seen({ status: 'expired', paid: null }),
    null,
  ],
  ['a part that was refunded', paid, seen({ takenBackCents: 500 }), { kind: 'take_back', cents: 500 }],
  [
    'the rest of it',
    { ...paid, taken_back_cents: 500 },
    seen({ takenBackCents: 2_000 }),
    { kind: 'take_back', cents: 1_500 },
  ],
  ['at most what was paid', paid, seen({ takenBackCents: 3_000 }), { kind: 'take_back', cents: 2_000 }],
  [
    'a dispute that was won',
    { ...paid, taken_back_cents: 2_000 },
    seen(),
    { kind: 'give_back', cents: 2_000 },
  ],
  [
    'a refund before the credit: first the credit',
    open,
    seen({ takenBackCents: 2_000 }),
    { kind: 'credit', cents: 2_000 },
  ],
] as const)('%s', (_name, purchase, payment, step) => {
  expect(planPurchase(purchase, payment)).toEqual(step);
});

test('another amount or currency is no payment of it', () => {
  expect(planPurchase(open, seen({ paid: { cents: 1, currency: 'usd' } }))).toMatchObject({ kind: 'refuse' });
  expect(planPurchase(open, seen({ paid: { cents: 2_000, currency: 'jpy' } }))).toMatchObject({
    kind: 'refuse',
  });
});
