import type { ReferralRefusal } from '@bakehouse/contract/referrals';
import { DAY_MS } from '../../platform/clock.ts';

/** How long an account counts as new. */
const NEW_DAYS = 7;

export type ReferralFacts = {
  now: Date;
  /** `isReturning` means that the mailbox had an account before. */
  invited: { userId: string; createdAt: Date; isVerified: boolean; isReturning: boolean };
  /** Null for an unknown code. */
  inviter: { userId: string; createdAt: Date; referrals: number } | null;
  /** The user's inviter, if already recorded. */
  earlierInviterId: string | null;
  referralsMax: number;
  /** Whether addresses can be confirmed, i.e. mail is configured. */
  needsVerified: boolean;
};

/** Returns why a code does not count for this user; null if it counts. */
export function refuseReferral(facts: ReferralFacts): ReferralRefusal | null {
  const { now, invited, inviter } = facts;
  if (!inviter) return 'unknown_code';
  if (inviter.userId === invited.userId) return 'own_code';
  if (facts.earlierInviterId !== null) return 'already_invited';
  const isNew = now.getTime() - invited.createdAt.getTime() < NEW_DAYS * DAY_MS;
  // Prevents two users from inviting each other.
  if (!isNew || invited.createdAt <= inviter.createdAt) return 'account_too_old';
  if (invited.isReturning) return 'returning_user';
  if (inviter.referrals >= facts.referralsMax) return 'limit_reached';
  if (facts.needsVerified && !invited.isVerified) return 'address_not_confirmed';
  return null;
}
