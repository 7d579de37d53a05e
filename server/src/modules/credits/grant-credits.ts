import type { grantCredits as contract } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { idempotent } from '../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { findUserId } from '../accounts/find-user-id.ts';
import { isUnprovenAddress } from '../accounts/is-unproven-address.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { notify } from '../notifications/notify.ts';
import { GRANTS_ACCOUNT, userAccount } from './ledger/accounts.ts';
import { transfer } from './ledger/transfer.ts';

/**
 * Grants credits to a user; the caller is an operator. They count as bought, because they were paid for
 * elsewhere or granted on purpose. Throws AppError 'not_found' for an unknown recipient, and 'conflict' for
 * an unverified address.
 */
export async function grantCredits(
  ctx: Context,
  input: InputOf<typeof contract>['body'],
): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const call = { userId, key: ctx.idempotencyKey, operation: 'grant-credits', input };
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      const recipientId = await findUserId(tx, input.recipient_id);
      if (recipientId === undefined) {
        throw new AppError('not_found', {
          publicMessage: 'User not found. Please check the username.',
          param: 'recipient_id',
        });
      }
      if (await isUnprovenAddress(tx, ctx.config, input.recipient_id)) {
        throw new AppError('conflict', {
          publicMessage: 'This email address is not confirmed. Use the username or id.',
          param: 'recipient_id',
        });
      }
      const { transferId, isReplayed } = await transfer(tx, {
        debitAccountId: GRANTS_ACCOUNT,
        creditAccountId: userAccount(recipientId),
        amountMicro: input.amount,
        kind: 'grant',
        description: input.description,
        idempotencyKey: ctx.idempotencyKey && `grant-credits:${userId}:${ctx.idempotencyKey}`,
      });
      const amount = formatBgl(input.amount);
      // The transfer outlives the stored response, so a repeated call may reach this point.
      if (!isReplayed) {
        await notify(tx, {
          userId: recipientId,
          kind: 'credits_granted',
          data: { amount_micro: String(input.amount) },
        });
        await recordAudit(tx, {
          userId,
          action: 'credits.granted',
          detail: { recipient_id: recipientId, amount, transaction_id: transferId },
        });
      }
      return { transaction_id: transferId, amount };
    }),
  );
}
