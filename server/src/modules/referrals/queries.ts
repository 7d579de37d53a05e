import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';

/** Returns the user's code, inserting the given one if missing; null if another user has that code. */
export async function upsertReferralCode(
  tx: Transaction,
  userId: string,
  code: string,
): Promise<string | null> {
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

/** Returns the owner of a code. Locks the code, because its referrals are counted against a limit. */
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

/** Returns users invited with this user's code, newest first; null for all. */
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

/**
 * Returns the user who uses a code, and who has already invited this user. Locks the user, who may use two
 * codes concurrently.
 */
export async function lockInvited(tx: Transaction, userId: string) {
  const user = await tx
    .selectFrom('users')
    .select(['created_at', 'email_verified', 'is_returning'])
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return { user, referral: await findReferralOf(tx, userId) };
}

/** Returns who invited a user. */
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
