import * as z from 'zod';
import { userId } from './accounts.ts';
import { endpoint } from './endpoint.ts';
import { bgl } from './money.ts';
import { PENDING_REFERRAL_PATH } from './pending-referral.ts';

/** Why a code does not count. */
const referralRefusals = [
  'unknown_code',
  'own_code',
  'already_invited',
  'account_too_old',
  /** The mailbox already had an account. */
  'returning_user',
  'limit_reached',
  /** Only temporary: the code counts once the address is confirmed. */
  'address_not_confirmed',
] as const;
export type ReferralRefusal = (typeof referralRefusals)[number];

const referralCode = z
  .string()
  .regex(/^[A-Za-z0-9]{1,40}$/, 'referral_code must consist of letters and digits');

/** The caller's own code, created by the first call. */
export const generateReferral = endpoint({
  method: 'GET',
  path: '/api/v1/referral/generate',
  access: 'key',
  operation: 'read your invitation',
  summary: 'Get your invitation code and who signed up with it',
  response: z.object({
    referral_code: z.string(),
    /** Link to the sign-up page, which stores the code. */
    referral_link: z.string(),
    /** Bonus of each side for a new account. */
    bonus: bgl,
    /** Maximum number of accounts for which the bonus is paid. */
    referrals_max: z.int(),
    referrals_total: z.int(),
    /** Total bonus of the caller. */
    earned: bgl,
    referrals: z.array(z.object({ username: z.string(), joined_at: z.string(), bonus: bgl })),
  }),
});

/** Redeems the code for the caller. Repeating the call pays nothing more. */
export const validateReferral = endpoint({
  method: 'GET',
  path: '/api/v1/referral/validate',
  access: 'key',
  // Needs the scope `everything`: although it is a GET, it pays credits.
  scopes: [],
  summary: 'Redeem an invitation code; both users get the bonus',
  query: z.object({ referral_code: referralCode }),
  response: z.object({
    success: z.boolean(),
    data: z.object({
      referral_code: z.string(),
      /** Why the code does not count; null if it counts. */
      reason: z.enum(referralRefusals).nullable(),
      message: z.string(),
      /** The caller's bonus; null if the code does not count. */
      bonus: bgl.nullable(),
      /** True if this call paid the bonus; false if an earlier one did. */
      is_new: z.boolean(),
    }),
  }),
});

/** A post's id on X; empty or null for none. */
const xPostId = (name: string) =>
  z
    .string()
    .regex(/^([0-9]{1,19})?$/, `${name} must be the id of a post on X`)
    .nullish()
    .transform((id) => id || undefined);

/** Each user may post once. If the message has no link to the sign-up page, one is added. */
export const postReferralToX = endpoint({
  method: 'POST',
  path: '/api/v1/referral/x/post',
  access: 'key',
  summary: 'Post your invitation from your connected X account',
  body: z.object({
    message: z
      .string()
      .trim()
      .min(1, 'message must not be empty')
      .max(280, 'message is longer than 280 characters'),
    /** The caller's own code. */
    referral_code: referralCode.optional(),
    user_id: userId.optional(),
    /** Ignored: the original product's clients send it, but a post on X has no recipient. */
    recipient_id: z.string().nullish(),
    reply_to: xPostId('reply_to'),
    quote_tweet_id: xPostId('quote_tweet_id'),
  }),
  response: z.object({ status: z.enum(['posted']), referral_code: z.string(), post_url: z.string() }),
});

export const getXAuthStatus = endpoint({
  method: 'GET',
  path: '/api/v1/referral/x/auth/status',
  access: 'key',
  operation: 'read your account on X',
  summary: 'Get the X connection status',
  response: z.object({
    status: z.enum(['not_configured', 'not_connected', 'connected']),
    /** Username on X, if connected. */
    username: z.string().nullable(),
  }),
});

export const startXAuth = endpoint({
  method: 'POST',
  path: '/api/v1/referral/x/auth',
  access: 'key',
  summary: "Get the X authorisation URL, which returns to '/invite'",
  response: z.object({ url: z.string() }),
});

export const finishXAuth = endpoint({
  method: 'POST',
  path: '/api/v1/referral/x/auth/callback',
  access: 'key',
  summary: 'Finish connecting an X account',
  body: z.object({
    code: z.string().min(1, 'code must not be empty').max(1_000),
    state: z.string().min(1, 'state must not be empty').max(200),
  }),
  response: z.object({ status: z.enum(['connected']), username: z.string() }),
});

export const endXAuth = endpoint({
  method: 'DELETE',
  path: '/api/v1/referral/x/auth',
  access: 'key',
  summary: 'Disconnect the X account and revoke its tokens',
  status: 204,
});

export const getXPostStatus = endpoint({
  method: 'GET',
  path: '/api/v1/referral/x/status',
  access: 'key',
  operation: 'read your post on X',
  summary: 'Get whether your invitation was posted on X',
  query: z.object({ referral_code: referralCode }),
  response: z.object({
    status: z.enum(['not_configured', 'not_posted', 'posted']),
    referral_code: z.string(),
    /** URL of the post, once posted. */
    post_url: z.string().nullable(),
  }),
});

const ownUserId = z.object({ userId });

export const getPendingReferral = endpoint({
  method: 'GET',
  path: PENDING_REFERRAL_PATH,
  access: 'session',
  summary: "Get this browser's pending invitation code",
  query: ownUserId,
  response: z.object({ referralCode: z.string().nullable() }),
});

export const deletePendingReferral = endpoint({
  method: 'DELETE',
  path: PENDING_REFERRAL_PATH,
  access: 'session',
  summary: "Delete this browser's pending invitation code",
  query: ownUserId,
  status: 204,
});
