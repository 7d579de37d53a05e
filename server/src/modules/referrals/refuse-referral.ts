import type { ReferralRefusal } from '@bakehouse/contract/referrals';
import { DAY_MS } from '../../platform/clock.ts';

/** An account is new for as long as this. */
const NEW_DAYS = 7;

export type ReferralFacts = {
  now: Date;
  /** `isReturning`: the mailbox had an account before. */
  invited: { userId: string; createdAt: Date; isVerified: boolean; isReturning: boolean };
  /** Null for an unknown code. */
  inviter: { userId: string; createdAt: Date; referrals: number } | null;
  /** By whom the invited came, if that is known already. */
  earlierInviterId: string | null;
  referralsMax: number;
  /** Addresses can be confirmed here, because mail is sent. */
  needsVerified: boolean;
};

/** Why a code does not count for this user; null where it does. */
export function refuseReferral(facts: ReferralFacts): ReferralRefusal | null {
  const { now, invited, inviter } = facts;
  if (!inviter) return 'unknown_code';
  if (inviter.userId === invited.userId) return 'own_code';
  if (facts.earlierInviterId !== null) return 'already_invited';
  const isNew = now.getTime() - invited.createdAt.getTime() < NEW_DAYS * DAY_MS;
  // Two people cannot invite each other.
  if (!isNew || invited.createdAt <= inviter.createdAt) return 'account_too_old';
  if (invited.isReturning) return 'returning_user';
  if (inviter.referrals >= facts.referralsMax) return 'limit_reached';
  if (facts.needsVerified && !invited.isVerified) return 'address_not_confirmed';
  return null;
}
