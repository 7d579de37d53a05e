import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { countReferrals, listReferrals } from './queries.ts';

/** Returns the caller's invitation totals and the newest `limit` invitations; null for all. */
export async function listInvitations({ db, config, caller }: Context, limit: number | null) {
  const { userId } = caller;
  const [{ total, earnedMicro }, referrals] = await Promise.all([
    countReferrals(db, userId),
    listReferrals(db, userId, limit),
  ]);
  return {
    bonus: formatBgl(parseBgl(config.referralBonusBgl)),
    referrals_max: config.referralsMax,
    referrals_total: total,
    earned: formatBgl(earnedMicro),
    referrals: referrals.map((one) => ({
      username: one.username,
      joined_at: one.created_at.toISOString(),
      bonus: formatBgl(one.bonus_micro),
    })),
  };
}
