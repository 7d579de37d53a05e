import type { changeMessage as contract } from '@bakehouse/contract/contact';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { findMessage, setStatus } from './queries.ts';

/** Marks a message as new, read or answered; the caller is an operator. Throws AppError 'not_found'. */
export async function changeMessage(
  ctx: Context,
  { params, body }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  return inTransaction(ctx.db, async (tx) => {
    await setStatus(tx, params.messageId, body.status);
    const message = await findMessage(tx, params.messageId);
    if (!message) throw new AppError('not_found', { publicMessage: 'Message not found' });
    return message;
  });
}
