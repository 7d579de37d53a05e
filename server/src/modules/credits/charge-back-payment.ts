import type { chargeBackPayment as contract } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { idempotent } from '../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { findUserId } from '../accounts/find-user-id.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { chargeBack } from './ledger/ledger-given.ts';

/**
 * Books that a user's payment was reversed; the caller is an operator. The user owes the part that the
 * balance does not cover. Throws AppError 'not_found' for an unknown user.
 */
export async function chargeBackPayment(
  ctx: Context,
  input: InputOf<typeof contract>['body'],
): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const call = { userId, key: ctx.idempotencyKey, operation: 'charge-back-payment', input };
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      const payerId = await findUserId(tx, input.payer_id);
      if (payerId === undefined) {
        throw new AppError('not_found', {
          publicMessage: 'User not found. Please check the username.',
          param: 'payer_id',
        });
      }
      const { transferId, collectedMicro, owedMicro, isReplayed } = await chargeBack(tx, {
        userId: payerId,
        amountMicro: input.amount,
        description: input.description,
        idempotencyKey: ctx.idempotencyKey && `charge-back-payment:${userId}:${ctx.idempotencyKey}`,
      });
      const amount = formatBgl(input.amount);
      if (!isReplayed) {
        await recordAudit(tx, {
          userId,
          action: 'credits.charged_back',
          detail: { payer_id: payerId, amount, transaction_id: transferId },
        });
      }
      return {
        transaction_id: transferId,
        amount,
        collected: formatBgl(collectedMicro),
        owed: formatBgl(owedMicro),
      };
    }),
  );
}
