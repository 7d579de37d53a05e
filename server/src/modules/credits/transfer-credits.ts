import type { transferTokens } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { refuseUnusableKey } from '../../platform/db/idempotency/idempotent.ts';
import { AppError } from '../../platform/errors.ts';
import { announceChange } from '../../platform/events/publish-change.ts';
import { isUnprovenAddress } from '../accounts/is-unproven-address.ts';
import type { SendInBatch } from './ledger/batch-sends.ts';
import { readSend, type Send } from './ledger/ledger-send.ts';
import { type IdleCredit, withIdleCredit } from './usage/with-idle-credit.ts';

/** A username that never resolves. */
const NOBODY = '';

/**
 * Sends the caller's credits to another user. The ledger stores the idempotency key. Throws the errors of
 * `readSend`, and 'forbidden' for a key with a budget.
 */
export async function transferCredits(
  ctx: Context,
  { send, usage }: { send: SendInBatch; usage: IdleCredit },
  input: InputOf<typeof transferTokens>['body'],
): Promise<ResponseOf<typeof transferTokens>> {
  const { userId } = ctx.caller;
  const { idempotencyKey } = ctx;
  if (ctx.caller.key?.hasBudget) {
    throw new AppError('forbidden', {
      publicMessage: 'An API key with a budget cannot send credits. Use the key of the web app',
    });
  }
  if (idempotencyKey !== null) refuseUnusableKey(idempotencyKey);
  const asked: Send = {
    senderId: userId,
    recipient: await provenRecipient(ctx, input.recipient_id),
    amountMicro: input.amount,
    idempotencyKey,
    keyId: ctx.caller.key?.id ?? null,
  };
  const { transferId, recipientId } = await withIdleCredit(usage, userId, async () =>
    readSend(await send(asked), asked),
  );
  for (const id of [userId, recipientId]) announceChange(ctx.db, id, { topic: 'balance', id });
  // The transfer has created the notification (`ledger_transfers_notify`).
  announceChange(ctx.db, recipientId, { topic: 'notification', id: recipientId });
  return { transaction_id: transferId, amount: formatBgl(input.amount) };
}

/** Treats unverified addresses like unknown ones. */
async function provenRecipient({ config, db }: Context, recipient: string): Promise<string> {
  return (await isUnprovenAddress(db, config, recipient)) ? NOBODY : recipient;
}
