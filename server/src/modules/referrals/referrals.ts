import { randomInt } from 'node:crypto';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { PENDING_REFERRAL_COOKIE, PENDING_REFERRAL_PATH } from '@bakehouse/contract/pending-referral';
import type {
  generateReferral as generateReferralEndpoint,
  getPendingReferral as getPendingReferralEndpoint,
  ReferralRefusal,
  validateReferral as validateReferralEndpoint,
} from '@bakehouse/contract/referrals';
import type { FastifyRequest } from 'fastify';
import { DAY_MS } from '../../platform/clock.ts';
import type { Context } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { Answer } from '../../platform/http/answer.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { lockUserAccounts } from '../billing/accounts.ts';
import { grantGivenCredits } from '../billing/ledger/given-credits.ts';
import { notify } from '../notifications/notifications.ts';
import {
  countReferrals,
  deleteCode,
  findCode,
  findReferralOf,
  insertReferral,
  listReferrals,
  lockCode,
  lockInvited,
  upsertReferralCode,
} from './queries.ts';
import { xPostUrl } from './x/x-post-url.ts';
import { deleteXAccount, deleteXPost, findXAccount, findXPost } from './x/x-queries.ts';

/** Letters and digits that are not easily confused. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

const CODE_LENGTH = 8;

/** Maximum invitations in the answer. The default limit of counted invitations is lower. */
const LISTED_MAX = 100;

/** An account counts as new for this many days. */
const NEW_DAYS = 7;

const sentences: Record<ReferralRefusal, string> = {
  unknown_code: 'There is no such invitation code',
  own_code: 'This is your own invitation code',
  already_invited: 'You have already used an invitation code',
  account_too_old: 'Invitation codes are for new accounts',
  returning_user:
    'Invitation codes are for new people, and this email address has had an account here before',
  limit_reached: 'This invitation code has reached its maximum of invitations',
  address_not_confirmed: 'Confirm your email address first, then the invitation counts',
};

/** Returns the caller's code, link and invitations. */
export async function generateReferral(ctx: Context): Promise<ResponseOf<typeof generateReferralEndpoint>> {
  const code = await findOrMakeCode(ctx);
  return {
    referral_code: code,
    referral_link: `${ctx.config.publicUrl}/?referral_code=${code}`,
    ...(await listInvitations(ctx, LISTED_MAX)),
  };
}

async function findOrMakeCode({ db, caller }: Context): Promise<string> {
  for (;;) {
    const made = Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
    const code = await inTransaction(db, (tx) => upsertReferralCode(tx, caller.userId, made));
    if (code !== null) return code;
  }
}

/** Returns the caller's invitation totals and the newest `limit` invitations; null for all. */
export async function listInvitations({ db, config, caller }: Context, limit: number | null) {
  const { userId } = caller;
  const [{ total, earnedMicro }, referrals] = await Promise.all([
    countReferrals(db, userId),
    listReferrals(db, userId, limit),
  ]);
  return {
    bonus: formatBgl(parseBgl(config.referralBonusBgl)),
    referrals_max: config.referralsMax,
    referrals_total: total,
    earned: formatBgl(earnedMicro),
    referrals: referrals.map((one) => ({
      username: one.username,
      joined_at: one.created_at.toISOString(),
      bonus: formatBgl(one.bonus_micro),
    })),
  };
}

/** Returns the invitation code in the cookie; null if there is no valid one. */
export function getPendingReferral({
  headers,
}: FastifyRequest): ResponseOf<typeof getPendingReferralEndpoint> {
  const prefix = `${PENDING_REFERRAL_COOKIE}=`;
  const own = headers.cookie?.split('; ').find((cookie) => cookie.startsWith(prefix));
  const code = own?.slice(prefix.length).toLowerCase() ?? '';
  return { referralCode: /^[a-z0-9]{1,40}$/.test(code) ? code : null };
}

/**
 * Returns the user's invitation code, accepted invitation, X account and X post. What does not exist is null.
 */
export async function exportReferrals(db: Database, userId: string) {
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

export type ReferralFacts = {
  now: Date;
  /** `isReturning` is true if the mailbox already had an account. */
  invited: { userId: string; createdAt: Date; isVerified: boolean; isReturning: boolean };
  /** The owner of the code; null if the code is unknown. */
  inviter: { userId: string; createdAt: Date; referrals: number } | null;
  /** The user who has already invited this one; null if there is none. */
  earlierInviterId: string | null;
  referralsMax: number;
  /** True if mail is configured, so that addresses can be confirmed. */
  needsVerified: boolean;
};

/** Returns why a code does not count for this user; null if it counts. */
export function findReferralRefusal(facts: ReferralFacts): ReferralRefusal | null {
  const { now, invited, inviter } = facts;
  if (!inviter) return 'unknown_code';
  if (inviter.userId === invited.userId) return 'own_code';
  if (facts.earlierInviterId !== null) return 'already_invited';
  const isNew = now.getTime() - invited.createdAt.getTime() < NEW_DAYS * DAY_MS;
  // Only the older account can invite, so that two users cannot invite each other.
  if (!isNew || invited.createdAt <= inviter.createdAt) return 'account_too_old';
  if (invited.isReturning) return 'returning_user';
  if (inviter.referrals >= facts.referralsMax) return 'limit_reached';
  if (facts.needsVerified && !invited.isVerified) return 'address_not_confirmed';
  return null;
}

type Validated = ResponseOf<typeof validateReferralEndpoint>;

/**
 * Counts an invitation for the caller and pays both bonuses in one transaction. Repeating the call with the
 * same code returns the same answer and pays nothing.
 */
export async function validateReferral(
  ctx: Context,
  { query }: InputOf<typeof validateReferralEndpoint>,
): Promise<Validated> {
  const { config, clock } = ctx;
  const { userId } = ctx.caller;
  const code = query.referral_code.toLowerCase();
  return inTransaction(ctx.db, async (tx) => {
    const { user, referral } = await lockInvited(tx, userId);
    const inviter = await lockCode(tx, code);
    if (referral && inviter?.id === referral.inviter_user_id) {
      return counted(code, { bonusMicro: referral.bonus_micro, isNew: false });
    }
    const now = clock.now();
    const refusal = findReferralRefusal({
      now,
      invited: {
        userId,
        createdAt: user.created_at,
        isVerified: user.email_verified,
        isReturning: user.is_returning,
      },
      inviter: inviter
        ? {
            userId: inviter.id,
            createdAt: inviter.created_at,
            referrals: (await countReferrals(tx, inviter.id)).total,
          }
        : null,
      earlierInviterId: referral?.inviter_user_id ?? null,
      referralsMax: config.referralsMax,
      needsVerified: config.mail !== null,
    });
    if (refusal || !inviter) return refused(code, refusal ?? 'unknown_code');
    const bonusMicro = parseBgl(config.referralBonusBgl);
    await insertReferral(tx, { invitedId: userId, inviterId: inviter.id, bonusMicro, now });
    await creditBonus(tx, {
      ...{ invitedId: userId, inviterId: inviter.id, bonusMicro },
      sendable: config.sendGivenCredits,
    });
    const detail = { inviter_id: inviter.id, bonus: formatBgl(bonusMicro) };
    await recordAudit(tx, { userId, action: 'referral.counted', detail });
    return counted(code, { bonusMicro, isNew: true });
  });
}

/**
 * Pays the bonuses of both sides. Ledger rows refer to the other user by id: rows are sealed, so a name would
 * stay in them after the account is deleted.
 */
async function creditBonus(
  tx: Transaction,
  {
    invitedId,
    inviterId,
    bonusMicro,
    sendable,
  }: { invitedId: string; inviterId: string; bonusMicro: bigint; sendable: boolean },
): Promise<void> {
  if (bonusMicro === 0n) return;
  const gifts = [
    { userId: invitedId, references: { inviter_id: inviterId } },
    { userId: inviterId, references: { invited_id: invitedId } },
  ];
  await lockUserAccounts(tx, [invitedId, inviterId]);
  for (const { userId, references } of gifts) {
    await grantGivenCredits(tx, {
      userId,
      amountMicro: bonusMicro,
      description: 'Invitation',
      references,
      sendable,
      idempotencyKey: `referral:${invitedId}:${userId}`,
    });
  }
  const data = { amount_micro: String(bonusMicro) };
  await notify(tx, { userId: inviterId, kind: 'referral_counted', data });
}

function counted(code: string, { bonusMicro, isNew }: { bonusMicro: bigint; isNew: boolean }): Validated {
  const message = isNew ? 'Both of you received the bonus' : 'This invitation has already been counted';
  const bonus = formatBgl(bonusMicro);
  return { success: true, data: { referral_code: code, reason: null, message, bonus, is_new: isNew } };
}

function refused(code: string, reason: ReferralRefusal): Validated {
  const message = sentences[reason];
  return { success: false, data: { referral_code: code, reason, message, bonus: null, is_new: false } };
}

/** Returns an empty answer that deletes the cookie with the invitation code. */
export function clearPendingReferral(): Answer<undefined> {
  const cookie = `${PENDING_REFERRAL_COOKIE}=; Path=${PENDING_REFERRAL_PATH}; SameSite=Lax; Max-Age=0`;
  return new Answer(undefined, { headers: { 'set-cookie': cookie } });
}

/** Deletes a deleted user's invitation code, X account and post. Invited users and bonuses stay. */
export async function deleteReferralData(tx: Transaction, userId: string): Promise<void> {
  await deleteCode(tx, userId);
  await deleteXAccount(tx, userId);
  await deleteXPost(tx, userId);
}
