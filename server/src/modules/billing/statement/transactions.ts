import type {
  listTransactions as listTransactionsEndpoint,
  transaction,
  transactionSummary,
  transactionTypes,
} from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { Transaction as DatabaseTransaction } from '../../../platform/db/database.ts';
import { readSnapshot } from '../../../platform/db/read-snapshot.ts';
import { accountOwner, accountUse, userAccount } from '../ledger/accounts.ts';
import type { TransferKind } from '../ledger/transfer.ts';
import { knownTimeZone } from './spend.ts';
import {
  listOpenHolds,
  listUserTransfers,
  type OpenHold,
  type Selection,
  type StatementTransfer,
} from './statement-queries.ts';
import { type CounterpartSum, sumUserTransfers } from './sum-queries.ts';

/** Prefix of a cursor whose last line was a hold. */
const HOLD = 'hold-';

/** How a transfer is shown to the user who received it, and to the user who paid it. */
const typeSeenBy: Record<TransferKind, { receiver: TransactionType; payer: TransactionType }> = {
  grant: { receiver: 'credit', payer: 'debit' },
  purchase: { receiver: 'deposit', payer: 'withdrawal' },
  transfer: { receiver: 'credit', payer: 'transfer' },
  charge: { receiver: 'credit', payer: 'payment' },
  refund: { receiver: 'refund', payer: 'debit' },
  expiry: { receiver: 'credit', payer: 'debit' },
  chargeback: { receiver: 'refund', payer: 'withdrawal' },
};

/**
 * Returns the text of a statement line. The other user of a send or an invitation is shown with the current
 * name: sealed transfers contain only ids, so no name remains after an account is deleted.
 */
function describeMovement(movement: StatementTransfer | OpenHold, side: 'payer' | 'receiver'): string {
  const { kind, refs, description } = movement;
  const counterpart = 'counterpart' in movement ? movement.counterpart : null;
  if (counterpart === null) return description;
  const name = counterpart.isDeleted ? 'a deleted user' : counterpart.username;
  if (kind === 'transfer') return side === 'payer' ? `Sent to ${name}` : `Received from ${name}`;
  return refs.inviter_id === undefined ? `Invitation of ${name}` : `Invitation by ${name}`;
}

type Transaction = z.infer<typeof transaction>;

type TransactionType = (typeof transactionTypes)[number];

/**
 * Lists the caller's movements: open holds first, as 'pending', then transfers, both newest first. The first
 * page also contains the sums of the period by kind, and its closing balance. The cursor is the last line, as
 * the id of a hold or the seq of a transfer.
 */
export async function listTransactions(
  ctx: Context,
  input: InputOf<typeof listTransactionsEndpoint>['query'],
): Promise<ResponseOf<typeof listTransactionsEndpoint>> {
  const { userId } = ctx.caller;
  const { limit, cursor, from, to, time_zone: timeZone, key_id: keyId } = input;
  const selection: Selection = { userId, from, to, timeZone, keyId };
  const after = cursor === undefined ? {} : parseCursor(cursor);
  // Read everything in one snapshot, so that a settled hold appears exactly once and the sums match the list.
  const { holds, transfers, sums } = await knownTimeZone(
    readSnapshot(ctx.db, async (tx) => {
      const open =
        after.seq === undefined
          ? await listOpenHolds(tx, { ...selection, after: after.holdId, limit: limit + 1 })
          : [];
      return {
        holds: open,
        transfers: await listUserTransfers(tx, {
          ...selection,
          before: after.seq ?? null,
          limit: limit + 1 - open.length,
        }),
        sums: cursor === undefined ? await sumUp(tx, selection) : { summary: null, closing_balance: null },
      };
    }),
  );
  const lines = [
    ...holds.map((hold) => ({
      cursor: `${HOLD}${hold.id}`,
      transaction: toTransaction(userId, hold, { status: 'pending', hash: null }),
    })),
    ...transfers.map((transfer) => ({
      cursor: transfer.seq.toString(),
      transaction: toTransaction(userId, transfer, { status: 'completed', hash: transfer.hash }),
    })),
  ];
  const page = lines.slice(0, limit);
  return {
    transactions: page.map(({ transaction }) => transaction),
    ...sums,
    next_cursor: lines.length > limit ? (page.at(-1)?.cursor ?? null) : null,
  };
}

function parseCursor(cursor: string): { holdId?: string; seq?: bigint } {
  return cursor.startsWith(HOLD) ? { holdId: cursor.slice(HOLD.length) } : { seq: BigInt(cursor) };
}

function toTransaction(
  userId: string,
  movement: StatementTransfer | OpenHold,
  { status, hash }: { status: Transaction['status']; hash: string | null },
): Transaction {
  const side = movement.debit_account_id === userAccount(userId) ? 'payer' : 'receiver';
  return {
    transaction_id: movement.id,
    transaction_date: movement.created_at.toISOString(),
    transaction_type: typeSeenBy[movement.kind][side],
    amount: formatBgl(movement.amount),
    description: describeMovement(movement, side),
    status,
    asset_name: movement.refs.asset_name ?? null,
    buyer_id: accountOwner(movement.debit_account_id),
    seller_id: accountOwner(movement.credit_account_id),
    pod_id: movement.refs.pod_id ?? null,
    dataset_id: movement.refs.dataset_id ?? null,
    model_id: movement.refs.model_id ?? null,
    run_id: movement.refs.run_id ?? null,
    generation_id: movement.refs.generation_id ?? null,
    transaction_hash: hash,
    usage_window_id: movement.refs.usage_window_id ?? null,
  };
}

type Sums = Pick<ResponseOf<typeof listTransactionsEndpoint>, 'summary' | 'closing_balance'>;

/** Returns the sums of a selection and its closing balance. With a key there is no balance. */
async function sumUp(tx: DatabaseTransaction, selection: Selection): Promise<Sums> {
  const ofPeriod = await sumUserTransfers(tx, selection);
  const summary = summarise(ofPeriod);
  if (selection.keyId !== undefined) return { summary, closing_balance: null };
  const balance = selection.from === undefined ? netOf(ofPeriod) : await sumUntilEnd(tx, selection);
  return { summary, closing_balance: formatBgl(balance) };
}

/**
 * Returns the balance at the end of the period: the current balance without the transfers after the period.
 */
async function sumUntilEnd(tx: DatabaseTransaction, selection: Selection): Promise<bigint> {
  const { userId, timeZone, to } = selection;
  const ofAllTimes = netOf(await sumUserTransfers(tx, { userId, timeZone }));
  if (to === undefined) return ofAllTimes;
  return ofAllTimes - netOf(await sumUserTransfers(tx, { userId, timeZone, after: to }));
}

function netOf(sums: readonly CounterpartSum[]): bigint {
  return sums.reduce((sum, { paid, received }) => sum + received - paid, 0n);
}

/** Costs are reduced by refunds. Credits sent to other users are summed separately. */
function summarise(ofPeriod: readonly CounterpartSum[]): z.infer<typeof transactionSummary> {
  const sums = {
    video_generation: 0n,
    image_generation: 0n,
    fine_tuning: 0n,
    llm_inference: 0n,
    deployment: 0n,
  };
  let sent = 0n;
  for (const { counterpart, paid, received } of ofPeriod) {
    const use = accountUse(counterpart);
    if (use !== null) sums[use] += paid - received;
    else if (counterpart === 'users') sent += paid;
  }
  return {
    total_cost_video_generations: formatBgl(sums.video_generation),
    total_cost_image_generations: formatBgl(sums.image_generation),
    total_cost_fine_tuning: formatBgl(sums.fine_tuning),
    total_cost_llm_inference: formatBgl(sums.llm_inference),
    other_costs: formatBgl(sums.deployment),
    total_token_transferred: formatBgl(sent),
  };
}
