import { formatBgl } from '@bakehouse/contract/money';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { deleteCode, findCode, findReferralOf } from './queries.ts';
import { xPostUrl } from './x/x-post-url.ts';
import { deleteXAccount, deleteXPost, findXAccount, findXPost } from './x/x-queries.ts';

/** Returns the user's invitation code, accepted invitation, X account and X post, each null without one. */
export async function findOwnReferral(db: Database, userId: string) {
  const [code, referral, account, post] = await Promise.all([
    findCode(db, userId),
    findReferralOf(db, userId),
    findXAccount(db, userId),
    findXPost(db, userId),
  ]);
  return {
    referral_code: code,
    came_by: referral && { at: referral.created_at.toISOString(), bonus: formatBgl(referral.bonus_micro) },
    x_account: account
      ? { username: account.username, connected_at: account.connected_at.toISOString() }
      : null,
    x_post_url: post?.post_id ? xPostUrl(post.post_id) : null,
  };
}

/** Deletes a deleted user's invitation code, X account and post. Invited users and bonuses stay. */
export async function forgetCode(tx: Transaction, userId: string): Promise<void> {
  await deleteCode(tx, userId);
  await deleteXAccount(tx, userId);
  await deleteXPost(tx, userId);
}
