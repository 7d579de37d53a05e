import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type { validateReferral as endpoint, ReferralRefusal } from '@bakehouse/contract/referrals';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { giveCredits } from '../credits/ledger/give-credits.ts';
import { lockUserAccounts } from '../credits/lock-user-accounts.ts';
import { notify } from '../notifications/notify.ts';
import { countReferrals, insertReferral, lockCode, lockInvited } from './queries.ts';
import { refuseReferral } from './refuse-referral.ts';

type Answer = ResponseOf<typeof endpoint>;

const sentences: Record<ReferralRefusal, string> = {
  unknown_code: 'There is no such invitation code',
  own_code: 'This is your own invitation code',
  already_invited: 'You have used an invitation code already',
  account_too_old: 'Invitation codes are for new accounts',
  returning_user:
    'Invitation codes are for new people, and this email address has had an account here before',
  limit_reached: 'This invitation code has reached its maximum of invitations',
  address_not_confirmed: 'Confirm your email address first, then the invitation counts',
};

/**
 * Counts an invitation for the caller and pays both bonuses in one transaction. Repeating the call with the
 * same code returns the same answer and pays nothing.
 */
export async function validateReferral(ctx: Context, { query }: InputOf<typeof endpoint>): Promise<Answer> {
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
    const refusal = refuseReferral({
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
    await giveBonus(tx, {
      ...{ invitedId: userId, inviterId: inviter.id, bonusMicro },
      sendable: config.sendGivenCredits,
    });
    const detail = { inviter_id: inviter.id, bonus: formatBgl(bonusMicro) };
    await recordAudit(tx, { userId, action: 'referral.counted', detail });
    return counted(code, { bonusMicro, isNew: true });
  });
}

/**
 * Ledger rows refer to the other side by id: a name would stay in sealed rows after its account is deleted.
 */
async function giveBonus(
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
    await giveCredits(tx, {
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

function counted(code: string, { bonusMicro, isNew }: { bonusMicro: bigint; isNew: boolean }): Answer {
  const message = isNew ? 'Both of you received the bonus' : 'This invitation has been counted already';
  const bonus = formatBgl(bonusMicro);
  return { success: true, data: { referral_code: code, reason: null, message, bonus, is_new: isNew } };
}

function refused(code: string, reason: ReferralRefusal): Answer {
  const message = sentences[reason];
  return { success: false, data: { referral_code: code, reason, message, bonus: null, is_new: false } };
}
