import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';

/** The user's code, or the given one where there was none; null where that is taken by another user. */
export async function keepCode(tx: Transaction, userId: string, code: string): Promise<string | null> {
  await tx
    .insertInto('referral_codes')
    .values({ user_id: userId, code })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return findCode(tx, userId);
}

export async function findCode(db: Database | Transaction, userId: string): Promise<string | null> {
  const row = await db
    .selectFrom('referral_codes')
    .select('code')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.code ?? null;
}

/** Whose code it is. Locks the code, so that what counts for it is counted one by one. */
export async function lockCode(tx: Transaction, code: string) {
  return tx
    .selectFrom('referral_codes')
    .innerJoin('users', 'users.id', 'referral_codes.user_id')
    .select(['users.id', 'users.username', 'users.created_at'])
    .where('code', '=', code)
    .forUpdate('referral_codes')
    .executeTakeFirst();
}

export async function countReferrals(db: Database | Transaction, inviterId: string) {
  const { total, earned } = await db
    .selectFrom('referrals')
    .select([
      sql<number>`count(*)::int`.as('total'),
      sql<bigint>`coalesce(sum(bonus_micro), 0)::bigint`.as('earned'),
    ])
    .where('inviter_user_id', '=', inviterId)
    .executeTakeFirstOrThrow();
  return { total, earnedMicro: earned };
}

/** Who came by this user's code, the latest first; null is all of them. */
export async function listReferrals(db: Database, inviterId: string, limit: number | null) {
  return db
    .selectFrom('referrals')
    .innerJoin('users', 'users.id', 'referrals.invited_user_id')
    .select(['users.username', 'referrals.created_at', 'referrals.bonus_micro'])
    .where('inviter_user_id', '=', inviterId)
    .orderBy('referrals.created_at', 'desc')
    .$if(limit !== null, (query) => query.limit(limit ?? 0))
    .execute();
}

/** The user who redeems a code, and who invited them before. Locks the user, who may redeem two codes at once. */
export async function lockInvited(tx: Transaction, userId: string) {
  const user = await tx
    .selectFrom('users')
    .select(['created_at', 'email_verified', 'is_returning'])
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return { user, referral: await findReferralOf(tx, userId) };
}

/** By whom a user came. */
export async function findReferralOf(db: Database | Transaction, invitedId: string) {
  const referral = await db
    .selectFrom('referrals')
    .select(['inviter_user_id', 'bonus_micro', 'created_at'])
    .where('invited_user_id', '=', invitedId)
    .executeTakeFirst();
  return referral ?? null;
}

export async function insertReferral(
  tx: Transaction,
  referral: { invitedId: string; inviterId: string; bonusMicro: bigint; now: Date },
): Promise<void> {
  await tx
    .insertInto('referrals')
    .values({
      invited_user_id: referral.invitedId,
      inviter_user_id: referral.inviterId,
      bonus_micro: referral.bonusMicro,
      created_at: referral.now,
    })
    .execute();
}

export async function deleteCode(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('referral_codes').where('user_id', '=', userId).execute();
}
