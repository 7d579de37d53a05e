import type { revokeCode as contract } from '@bakehouse/contract/codes';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { endCode } from './code-queries.ts';

/** Revokes a code, but not redeemed credits; the caller is an operator. Throws AppError 'not_found'. */
export async function revokeCode(ctx: Context, { params }: InputOf<typeof contract>): Promise<void> {
  await inTransaction(ctx.db, async (tx) => {
    if (!(await endCode(tx, params.codeId, ctx.clock.now())))
      throw new AppError('not_found', { publicMessage: 'Code not found, or already revoked' });
    await recordAudit(tx, {
      userId: ctx.caller.userId,
      action: 'code.revoked',
      detail: { code_id: params.codeId },
    });
  });
}
