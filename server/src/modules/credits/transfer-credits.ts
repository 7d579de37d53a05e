import type { transferTokens } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { refuseUnusableKey } from '../../platform/db/idempotent.ts';
import { send } from './ledger.ts';

/** Sends the caller's credits to another user. The ledger itself keeps the key. Throws what `send` throws. */
export async function transferCredits(
  ctx: Context,
  input: InputOf<typeof transferTokens>['body'],
): Promise<ResponseOf<typeof transferTokens>> {
  const { userId } = ctx.caller;
  const key = ctx.idempotencyKey;
  if (key !== null) refuseUnusableKey(key);
  const { transferId, recipientId } = await send(ctx, {
    senderId: userId,
    recipient: input.recipient_id,
    amountMicro: input.amount,
    idempotencyKey: key && `transfer-credits:${userId}:${key}`,
  });
  for (const id of [userId, recipientId]) ctx.events.announce(id, { topic: 'balance', id });
  return { transaction_id: transferId, amount: formatBgl(input.amount) };
}
