import type { createCodes as contract } from '@bakehouse/contract/codes';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { idempotent } from '../../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { insertCodes } from './code-queries.ts';
import { hashCode, hintOf, makeCode } from './credit-code.ts';

/**
 * Creates credit codes; the caller is an operator. Only this response, which a repeated call returns too,
 * contains the codes in clear text.
 */
export async function createCodes(
  ctx: Context,
  input: InputOf<typeof contract>['body'],
): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const { amount, count, redemptions_max: redemptionsMax, note } = input;
  const expiresAt = input.expires_at ? new Date(input.expires_at) : null;
  if (expiresAt && expiresAt <= ctx.clock.now()) {
    throw new AppError('invalid_request', {
      publicMessage: 'expires_at must be in the future',
      param: 'expires_at',
    });
  }
  const call = { userId, key: ctx.idempotencyKey, operation: 'create-codes', input };
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      const codes = Array.from({ length: count }, makeCode);
      const made = codes.map((code) => ({ sha256: hashCode(code), hint: hintOf(code) }));
      await insertCodes(
        tx,
        made.map((code) => ({
          ...code,
          amountMicro: amount,
          redemptionsMax,
          note,
          expiresAt,
          createdBy: userId,
        })),
      );
      await recordAudit(tx, {
        userId,
        action: 'codes.created',
        detail: { count: String(count), amount: formatBgl(amount), redemptions_max: String(redemptionsMax) },
      });
      return { codes };
    }),
  );
}
