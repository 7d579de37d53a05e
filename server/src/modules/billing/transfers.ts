import type { previewTransfer as previewTransferEndpoint, transferTokens } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import { sql } from 'kysely';
import type { Context } from '../../platform/context.ts';
import type { Database } from '../../platform/db/database.ts';
import { assertUsableKey } from '../../platform/db/idempotency/idempotent.ts';
import { forbidden } from '../../platform/errors.ts';
import { announceChange } from '../../platform/events/publish-change.ts';
import { isUnprovenAddress } from '../accounts/proven-addresses.ts';
import { userAccount } from './ledger/accounts.ts';
import { assertSent, type Send, type SendInBatch } from './ledger/sends.ts';
import { findNamedUser, getUserTotals } from './queries.ts';
import { readSendable } from './statement/balance.ts';
import { type IdleCredit, withIdleCredit } from './usage/with-idle-credit.ts';

/** A username that no user has. */
const NOBODY = '';

/**
 * Sends the caller's credits to another user. The ledger stores the idempotency key, so a repeated call is
 * recognised permanently. Throws the errors of `assertSent`, and 'forbidden' for a key with a budget.
 */
export async function transferCredits(
  ctx: Context,
  { send, usage }: { send: SendInBatch; usage: IdleCredit },
  input: InputOf<typeof transferTokens>['body'],
): Promise<ResponseOf<typeof transferTokens>> {
  const { userId } = ctx.caller;
  const { idempotencyKey } = ctx;
  if (ctx.caller.key?.hasBudget) {
    throw forbidden('An API key with a budget cannot send credits. Use the key of the web app');
  }
  if (idempotencyKey !== null) assertUsableKey(idempotencyKey);
  const asked: Send = {
    senderId: userId,
    recipient: await provenRecipient(ctx, input.recipient_id),
    amountMicro: input.amount,
    idempotencyKey,
    keyId: ctx.caller.key?.id ?? null,
  };
  const { transferId, recipientId } = await withIdleCredit(usage, userId, async () =>
    assertSent(await send(asked), asked),
  );
  for (const id of [userId, recipientId]) announceChange(ctx.db, id, { topic: 'balance', id });
  // The database has created the notification together with the transfer (`ledger_transfers_notify`).
  announceChange(ctx.db, recipientId, { topic: 'notification', id: recipientId });
  return { transaction_id: transferId, amount: formatBgl(input.amount) };
}

/** Returns the recipient, or an unknown name if the recipient is an unverified address. */
async function provenRecipient({ config, db }: Context, recipient: string): Promise<string> {
  return (await isUnprovenAddress(db, config, recipient)) ? NOBODY : recipient;
}

/** Returns the recipient of a transfer. Null if the name is unknown, or if the amount cannot be sent. */
export async function previewTransfer(
  ctx: Context,
  { recipient_id, amount }: InputOf<typeof previewTransferEndpoint>['query'],
): Promise<ResponseOf<typeof previewTransferEndpoint>> {
  const totals = await getUserTotals(ctx.db, ctx.caller.userId);
  const user = await findNamedUser(ctx.db, recipient_id);
  if (user === undefined || amount > (await readSendable(ctx, totals))) return { recipient: null };
  return { recipient: { user_id: user.id, username: user.username } };
}

type SentCredits = {
  seq: bigint;
  at: Date;
  userId: string;
  username: string | null;
  detail: { transaction_id: string; recipient_id: string; amount: string };
};

/** Returns transfers between users before the transfer `before`, newest first. */
export async function listSends(
  db: Database,
  filter: { userId?: string; before: bigint; limit: number },
): Promise<SentCredits[]> {
  const rows = await selectSends(db, filter);
  return rows.map(({ id, recipientId, amount, ...row }) => ({
    ...row,
    detail: { transaction_id: id, recipient_id: recipientId, amount: formatBgl(amount) },
  }));
}

type SendRow = {
  seq: bigint;
  id: string;
  at: Date;
  userId: string;
  username: string | null;
  recipientId: string;
  amount: bigint;
};

/**
 * Returns the newest transfers between users before the transfer with the seq `before`. With a `userId`,
 * sorts by time, and otherwise by seq, because these are the orders of the indexes.
 */
export async function selectSends(
  db: Database,
  { userId, before, limit }: { userId?: string; before: bigint; limit: number },
): Promise<SendRow[]> {
  const startedAt = sql`coalesce((select created_at from ledger_transfers where seq = ${before}), 'infinity')`;
  const [selected, order] =
    userId === undefined
      ? [sql`seq < ${before}`, sql`sent.seq desc`]
      : [
          sql`debit_account_id = ${userAccount(userId)} and (created_at, seq) < (${startedAt}, ${before})`,
          sql`sent.created_at desc, sent.seq desc`,
        ];
  const { rows } = await sql<SendRow>`
    select sent.seq, sent.id, sent.created_at as at, payer.owner_user_id as "userId", users.username,
      recipient.owner_user_id as "recipientId", sent.amount
    from (
      select * from ledger_transfers sent
      where kind = 'transfer' and ${selected} order by ${order} limit ${limit}
    ) sent
    join ledger_accounts payer on payer.id = sent.debit_account_id
    join ledger_accounts recipient on recipient.id = sent.credit_account_id
    left join users on users.id = payer.owner_user_id and users.deleted_at is null
    order by ${order}`.execute(db);
  return rows;
}
