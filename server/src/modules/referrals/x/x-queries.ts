import type { Database, Transaction } from '../../../platform/db/database.ts';

/** A claim expires after this time if no post was made. */
const CLAIM_MS = 60_000;

export async function findXAccount(db: Database | Transaction, userId: string) {
  return db.selectFrom('x_accounts').selectAll().where('user_id', '=', userId).executeTakeFirst();
}

type NewXAccount = {
  user_id: string;
  x_user_id: string;
  username: string;
  access_token: Buffer;
  refresh_token: Buffer;
  expires_at: Date;
  connected_at: Date;
};

export async function saveXAccount(tx: Transaction, { user_id, ...account }: NewXAccount): Promise<void> {
  await tx
    .insertInto('x_accounts')
    .values({ user_id, ...account })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(account))
    .execute();
}

/** Replaces the tokens, unless a concurrent call has already replaced them. */
export async function replaceXTokens(
  db: Database,
  { user_id, refresh_token }: { user_id: string; refresh_token: Buffer },
  tokens: Pick<NewXAccount, 'access_token' | 'refresh_token' | 'expires_at'>,
): Promise<void> {
  await db
    .updateTable('x_accounts')
    .set(tokens)
    .where('user_id', '=', user_id)
    .where('refresh_token', '=', refresh_token)
    .execute();
}

/**
 * Deletes the account. With `refreshToken`, only if the account still has this token. Returns true if it was
 * deleted.
 */
export async function deleteXAccount(
  tx: Database | Transaction,
  userId: string,
  refreshToken: Buffer | null = null,
): Promise<boolean> {
  let deletion = tx.deleteFrom('x_accounts').where('user_id', '=', userId);
  if (refreshToken) deletion = deletion.where('refresh_token', '=', refreshToken);
  const { numDeletedRows } = await deletion.executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function findXPost(db: Database, userId: string): Promise<{ post_id: string | null } | null> {
  const row = await db
    .selectFrom('x_posts')
    .select('post_id')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Claims the right to post; each user has one post. Returns false if the post exists, or another call has a
 * claim.
 */
export async function claimXPost(db: Database, userId: string, now: Date): Promise<boolean> {
  const claimed = await db
    .insertInto('x_posts')
    .values({ user_id: userId, claimed_at: now })
    .onConflict((conflict) =>
      conflict
        .column('user_id')
        .doUpdateSet({ claimed_at: now })
        .where('x_posts.post_id', 'is', null)
        .where('x_posts.claimed_at', '<', new Date(now.getTime() - CLAIM_MS)),
    )
    .returning('user_id')
    .executeTakeFirst();
  return claimed !== undefined;
}

/** Releases the claim, unless it expired and another call has claimed the post. */
export async function releaseXPost(db: Database, userId: string, claimedAt: Date): Promise<void> {
  await db
    .deleteFrom('x_posts')
    .where('user_id', '=', userId)
    .where('post_id', 'is', null)
    .where('claimed_at', '=', claimedAt)
    .execute();
}

export async function saveXPost(tx: Transaction, userId: string, postId: string): Promise<void> {
  await tx.updateTable('x_posts').set({ post_id: postId }).where('user_id', '=', userId).execute();
}

export async function deleteXPost(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('x_posts').where('user_id', '=', userId).execute();
}
