import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';

export type NewCode = {
  sha256: Buffer;
  hint: string;
  amountMicro: bigint;
  redemptionsMax: number;
  note: string;
  expiresAt: Date | null;
  createdBy: string;
};

export async function insertCodes(tx: Transaction, codes: readonly NewCode[]): Promise<void> {
  await tx
    .insertInto('credit_codes')
    .values(
      codes.map((code) => ({
        sha256: code.sha256,
        hint: code.hint,
        amount_micro: code.amountMicro,
        redemptions_max: code.redemptionsMax,
        note: code.note,
        expires_at: code.expiresAt,
        created_by: code.createdBy,
      })),
    )
    .execute();
}

/** Uses and locks one redemption of the code; undefined if used up, revoked or expired. */
export async function consumeRedemption(
  tx: Transaction,
  sha256: Buffer,
  now: Date,
): Promise<{ id: string; hint: string; amount_micro: bigint } | undefined> {
  const { rows } = await sql<{ id: string; hint: string; amount_micro: bigint }>`
    update credit_codes set redemptions = redemptions + 1
    where sha256 = ${sha256} and revoked_at is null and redemptions < redemptions_max
      and (expires_at is null or expires_at > ${now})
    returning id, hint, amount_micro`.execute(tx);
  return rows[0];
}

/** Records the redemption. Returns false if the user already redeemed the code. */
export async function insertRedemption(
  tx: Transaction,
  redemption: { codeId: string; userId: string; at: Date },
) {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('credit_code_redemptions')
    .values({ code_id: redemption.codeId, user_id: redemption.userId, redeemed_at: redemption.at })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** Returns a user's redemptions, oldest first. */
export async function selectRedemptions(db: Database, userId: string) {
  return db
    .selectFrom('credit_code_redemptions as redemption')
    .innerJoin('credit_codes as code', 'code.id', 'redemption.code_id')
    .select(['code.hint', 'code.amount_micro', 'redemption.redeemed_at'])
    .where('redemption.user_id', '=', userId)
    .orderBy('redemption.redeemed_at')
    .execute();
}

export type CodeRow = {
  id: string;
  hint: string;
  amount_micro: bigint;
  note: string;
  redemptions: number;
  redemptions_max: number;
  redeemed_by: { username: string; at: string }[];
  expires_at: Date | null;
  revoked_at: Date | null;
  created_at: Date;
};

/** Returns codes, newest first, each with its latest redemptions. */
export async function listAllCodes(
  db: Database,
  { before, limit }: { before: string | null; limit: number },
): Promise<CodeRow[]> {
  const { rows } = await sql<CodeRow>`
    select c.*, coalesce((
        select json_agg(json_build_object('username', username, 'at', redeemed_at) order by redeemed_at desc)
        from (
          select u.username, r.redeemed_at from credit_code_redemptions r join users u on u.id = r.user_id
          where r.code_id = c.id order by r.redeemed_at desc limit 20
        ) latest
      ), '[]') as redeemed_by
    from credit_codes c
    where ${before}::uuid is null or c.id < ${before}::uuid
    order by c.id desc limit ${limit}`.execute(db);
  return rows;
}

/** Returns false if the code is unknown or already revoked. */
export async function revokeCodeRow(tx: Transaction, codeId: string, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('credit_codes')
    .set({ revoked_at: at })
    .where('id', '=', codeId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
