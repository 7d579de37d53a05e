import type { redeemCode as contract } from '@bakehouse/contract/codes';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { idempotent } from '../../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { GRANTS_ACCOUNT, userAccount } from '../ledger/accounts.ts';
import { transfer } from '../ledger/transfer.ts';
import { insertRedemption, takeRedemption } from './code-queries.ts';
import { hashCode } from './credit-code.ts';

/**
 * Credits a code's amount to the caller. It counts as bought, because an operator sold the code or granted it
 * on purpose. Throws AppError 'not_found' for a code that cannot be redeemed, and 'conflict' if the caller
 * already redeemed it.
 */
export async function redeemCode(
  ctx: Context,
  input: InputOf<typeof contract>['body'],
): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const now = ctx.clock.now();
  const call = { userId, key: ctx.idempotencyKey, operation: 'redeem-code', input };
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      const code = await takeRedemption(tx, hashCode(input.code), now);
      if (code === undefined) throw notRedeemable();
      if (!(await insertRedemption(tx, { codeId: code.id, userId, at: now }))) {
        throw new AppError('conflict', {
          publicMessage: 'You have already redeemed this code',
          param: 'code',
        });
      }
      const amount = formatBgl(code.amount_micro);
      await recordAudit(tx, { userId, action: 'code.redeemed', detail: { code_id: code.id, amount } });
      const { transferId } = await transfer(tx, {
        debitAccountId: GRANTS_ACCOUNT,
        creditAccountId: userAccount(userId),
        amountMicro: code.amount_micro,
        kind: 'grant',
        description: `Code ending in ${code.hint}`,
        idempotencyKey: `redeem-code:${code.id}:${userId}`,
      });
      return { transaction_id: transferId, amount };
    }),
  );
}

/** One error for all reasons, so that codes cannot be probed. */
function notRedeemable(): AppError {
  return new AppError('not_found', {
    publicMessage:
      'This code cannot be redeemed. Check it for typos; it may also have been used up, revoked or have expired.',
    param: 'code',
  });
}
