import { formatBgl } from '@bakehouse/contract/money';
import type { Database } from '../../platform/db/database.ts';
import { findCode, findReferralOf } from './queries.ts';

/** The user's invitation code, if one was ever asked for, and the invitation by which the user came, if any. */
export async function findOwnReferral(db: Database, userId: string) {
  const [code, referral] = await Promise.all([findCode(db, userId), findReferralOf(db, userId)]);
  return {
    referral_code: code,
    came_by: referral && { at: referral.created_at.toISOString(), bonus: formatBgl(referral.bonus_micro) },
  };
}
