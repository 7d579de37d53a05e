import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type {
  getXPostStatus as getXPostStatusEndpoint,
  postReferralToX as postReferralToXEndpoint,
} from '@bakehouse/contract/referrals';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { conflict, invalidParam, notFoundError } from '../../../platform/errors.ts';
import { decrypt } from '../../../platform/secrets/encryption.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findCode } from '../queries.ts';
import { generateReferral } from '../referrals.ts';
import { toTokenColumns } from './to-token-columns.ts';
import { requireX } from './x-auth.ts';
import { XUnauthorized, XUnavailable } from './x-client.ts';
import { xPostUrl } from './x-post-url.ts';
import {
  claimXPost,
  deleteXAccount,
  findXAccount,
  findXPost,
  releaseXPost,
  replaceXTokens,
  saveXPost,
} from './x-queries.ts';

/** Refresh a token this long before it expires, so that it stays valid during the call. */
const LEEWAY_MS = 60_000;

/** Returns whether the caller's invitation was posted on X. Throws AppError 'not_found' for another code. */
export async function getXPostStatus(
  { config, db, caller }: Context,
  { query }: InputOf<typeof getXPostStatusEndpoint>,
): Promise<ResponseOf<typeof getXPostStatusEndpoint>> {
  const code = query.referral_code.toLowerCase();
  if (code !== (await findCode(db, caller.userId))) {
    throw notFoundError('This is not your invitation code');
  }
  if (!config.x) return { status: 'not_configured', referral_code: code, post_url: null };
  const postId = (await findXPost(db, caller.userId))?.post_id ?? null;
  return postId === null
    ? { status: 'not_posted', referral_code: code, post_url: null }
    : { status: 'posted', referral_code: code, post_url: xPostUrl(postId) };
}

/** Posts the caller's invitation on X, once. A post that X refused can be changed and retried. */
export async function postReferralToX(
  ctx: Context,
  { body: { message, referral_code, reply_to, quote_tweet_id } }: InputOf<typeof postReferralToXEndpoint>,
): Promise<ResponseOf<typeof postReferralToXEndpoint>> {
  const { db, clock, caller } = ctx;
  const { client } = requireX(ctx);
  const { referral_code: code, referral_link: link } = await generateReferral(ctx);
  if (referral_code !== undefined && referral_code.toLowerCase() !== code) {
    const publicMessage = 'referral_code must be your own invitation code';
    throw invalidParam('referral_code', publicMessage);
  }
  const now = clock.now();
  if (!(await claimXPost(db, caller.userId, now))) {
    const isPosted = (await findXPost(db, caller.userId))?.post_id != null;
    throw conflict(
      isPosted
        ? 'You have already posted your invitation on X'
        : 'Your invitation may already be on X. Check there, and try again in a minute if it is not',
    );
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

type Account = NonNullable<Awaited<ReturnType<typeof findXAccount>>>;

/**
 * Calls X with the caller's access token. Refreshes the token if it has expired or X refuses it. Throws
 * AppError 'conflict' if no account is connected, or if X has revoked the connection, which is then deleted.
 */
async function withXToken<Answer>(
  ctx: Context,
  work: (accessToken: string, account: Account) => Promise<Answer>,
): Promise<Answer> {
  const { userId } = ctx.caller;
  const { encryptionOf } = requireX(ctx);
  let account = await findConnected(ctx);
  const isOver = account.expires_at.getTime() - LEEWAY_MS < ctx.clock.now().getTime();
  if (isOver) account = await refresh(ctx, account);
  const call = () => work(decrypt(account.access_token, encryptionOf(userId)), account);
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof XUnauthorized) || isOver) throw await lost(ctx, account, error);
  }
  account = await refresh(ctx, account);
  try {
    return await call();
  } catch (error) {
    throw await lost(ctx, account, error);
  }
}

async function findConnected({ db, caller }: Context): Promise<Account> {
  const account = await findXAccount(db, caller.userId);
  if (account) return account;
  throw conflict('Connect your X account first');
}

async function refresh(ctx: Context, account: Account): Promise<Account> {
  const { userId } = ctx.caller;
  const { client, encryptionOf } = requireX(ctx);
  try {
    const tokens = await client.refresh(decrypt(account.refresh_token, encryptionOf(userId)));
    const columns = toTokenColumns(tokens, encryptionOf(userId), ctx.clock.now());
    await replaceXTokens(ctx.db, account, columns);
    return { ...account, ...columns };
  } catch (error) {
    // A refresh token can be used only once. A concurrent call may have used it and stored a newer one.
    const newer = await findXAccount(ctx.db, userId);
    if (newer && !newer.refresh_token.equals(account.refresh_token)) return newer;
    throw await lost(ctx, account, error);
  }
}

/** Returns the error to throw. If X no longer accepts the refresh token, deletes the connection. */
async function lost({ db, caller }: Context, { refresh_token }: Account, error: unknown): Promise<unknown> {
  if (!(error instanceof XUnauthorized)) return error;
  await deleteXAccount(db, caller.userId, refresh_token);
  const publicMessage = 'Your X connection has expired. Connect your account again';
  return conflict(publicMessage, { cause: error });
}
