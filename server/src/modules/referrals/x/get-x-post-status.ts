import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getXPostStatus as endpoint } from '@bakehouse/contract/referrals';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findCode } from '../queries.ts';
import { xPostUrl } from './x-post-url.ts';
import { findXPost } from './x-queries.ts';

/** Returns whether the caller's invitation was posted on X. Throws AppError 'not_found' for another code. */
export async function getXPostStatus(
  { config, db, caller }: Context,
  { query }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const code = query.referral_code.toLowerCase();
  if (code !== (await findCode(db, caller.userId))) {
    throw new AppError('not_found', { publicMessage: 'This is not your invitation code' });
  }
  if (!config.x) return { status: 'not_configured', referral_code: code, post_url: null };
  const postId = (await findXPost(db, caller.userId))?.post_id ?? null;
  return postId === null
    ? { status: 'not_posted', referral_code: code, post_url: null }
    : { status: 'posted', referral_code: code, post_url: xPostUrl(postId) };
}
