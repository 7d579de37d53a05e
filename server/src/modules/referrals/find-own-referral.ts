import { formatBgl } from '@bakehouse/contract/money';
import type { Database } from '../../platform/db/database.ts';
import { findCode, findReferralOf } from './queries.ts';
import { xPostUrl } from './x/x-post-url.ts';
import { findXAccount, findXPost } from './x/x-queries.ts';

/**
 * The user's invitation code, if one was ever asked for, the invitation by which the user came, if any, and what of
 * both is on X.
 */
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
