import { expect, test } from 'vitest';
import { findReferralRefusal, type ReferralFacts } from './referrals.ts';

const good: ReferralFacts = {
  now: new Date('2026-11-20T12:00:00Z'),
  invited: {
    userId: 'bob',
    createdAt: new Date('2026-11-19T12:00:00Z'),
    isVerified: false,
    isReturning: false,
  },
  inviter: { userId: 'ada', createdAt: new Date('2026-01-01T00:00:00Z'), referrals: 9 },
  earlierInviterId: null,
  referralsMax: 10,
  needsVerified: false,
};
const inviter = { userId: 'ada', createdAt: new Date('2026-01-01T00:00:00Z'), referrals: 0 };

test('a new account may use the code of an older one', () => {
  expect(findReferralRefusal(good)).toBeNull();
});

test.each<[string, Partial<ReferralFacts>, string]>([
  ['an unknown code', { inviter: null }, 'unknown_code'],
  ["the user's own code", { inviter: { ...inviter, userId: 'bob' } }, 'own_code'],
  ['a second code', { earlierInviterId: 'eve' }, 'already_invited'],
  ['an account older than a week', { now: new Date('2026-11-26T12:00:00Z') }, 'account_too_old'],
  [
    'the code of a younger account',
    { inviter: { ...inviter, createdAt: new Date('2026-11-19T13:00:00Z') } },
    'account_too_old',
  ],
  [
    'an address with an earlier account',
    { invited: { ...good.invited, isReturning: true } },
    'returning_user',
  ],
  ['the eleventh referral', { inviter: { ...inviter, referrals: 10 } }, 'limit_reached'],
  ['an unconfirmed address if mail is sent', { needsVerified: true }, 'address_not_confirmed'],
])('refuses %s', (_what, facts, reason) => {
  expect(findReferralRefusal({ ...good, ...facts })).toBe(reason);
});

test('accepts a confirmed address with mail configured', () => {
  const invited = { ...good.invited, isVerified: true };
  expect(findReferralRefusal({ ...good, invited, needsVerified: true })).toBeNull();
});
