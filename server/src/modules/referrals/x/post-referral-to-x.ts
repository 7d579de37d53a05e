import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { postReferralToX as endpoint } from '@bakehouse/contract/referrals';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { generateReferral } from '../generate-referral.ts';
import { requireX } from './require-x.ts';
import { withXToken } from './with-x-token.ts';
import { XUnavailable } from './x-client.ts';
import { xPostUrl } from './x-post-url.ts';
import { claimXPost, findXPost, releaseXPost, saveXPost } from './x-queries.ts';

/** Posts the caller's invitation on X, once. A post that X refused can be changed and retried. */
export async function postReferralToX(
  ctx: Context,
  { body: { message, referral_code, reply_to, quote_tweet_id } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { db, clock, caller } = ctx;
  const { client } = requireX(ctx);
  const { referral_code: code, referral_link: link } = await generateReferral(ctx);
  if (referral_code !== undefined && referral_code.toLowerCase() !== code) {
    const publicMessage = 'referral_code must be your own invitation code';
    throw new AppError('invalid_request', { publicMessage, param: 'referral_code' });
  }
  const now = clock.now();
  if (!(await claimXPost(db, caller.userId, now))) {
    const isPosted = (await findXPost(db, caller.userId))?.post_id != null;
    throw new AppError('conflict', {
      publicMessage: isPosted
        ? 'You have already posted your invitation on X'
        : 'Your invitation may already be on X. Check there, and try again in a minute if it is not',
    });
  }
  const text = message.includes(link) ? message : `${message} ${link}`;
  let mayBePosted = false;
  try {
    const postId = await withXToken(ctx, async (token) => {
      try {
        mayBePosted = true;
        return await client.createPost(token, { text, replyTo: reply_to, quoteId: quote_tweet_id });
      } catch (error) {
        mayBePosted = error instanceof XUnavailable;
        throw error;
      }
    });
    await inTransaction(db, async (tx) => {
      await saveXPost(tx, caller.userId, postId);
      await recordAudit(tx, {
        userId: caller.userId,
        action: 'referral.posted',
        detail: { post_id: postId },
      });
    });
    return { status: 'posted', referral_code: code, post_url: xPostUrl(postId) };
  } catch (error) {
    // A post that may have succeeded is not retried for a minute.
    if (!mayBePosted) await releaseXPost(db, caller.userId, now);
    throw error;
  }
}
