import { formatBgl } from '@bakehouse/contract/money';
import type { RawBuilder } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { idempotencyConflict } from '../../../platform/db/idempotency/idempotent.ts';
import { AppError, conflict, messageWithAmounts } from '../../../platform/errors.ts';
import { publishChanges } from '../../../platform/events/publish-change.ts';
import { accountOwner } from './accounts.ts';

/**
 * Results and errors of the ledger's SQL functions. The functions in this folder are the only code that
 * writes the ledger. Each calls one SQL function (ledger_* in server/migrations/functions) in the caller's
 * transaction, and notifies the affected users of their new balance after the commit. Amounts are in
 * micro-BGL. If a function throws, it has changed nothing, and the caller's transaction can continue.
 * Accounts stay locked until the transaction ends, so call one of them per transaction, as its last step.
 */

export type MoveOutcome =
  | 'ok'
  | 'replayed'
  | 'idempotency_conflict'
  | 'insufficient_funds'
  | 'not_sendable'
  | 'owed';
export type ExtensionOutcome = 'ok' | 'insufficient_funds' | 'ended' | 'not_found';

/** Calls a SQL function of the ledger that returns one row. */
export async function callOnce<Answer>(
  db: Database | Transaction,
  query: RawBuilder<unknown>,
): Promise<Answer> {
  const { rows } = await query.$castTo<Answer>().execute(db);
  return oneOf(rows);
}

/** Returns the row of a result that always has exactly one. */
export function oneOf<Answer>([answer]: Answer[]): Answer {
  if (answer === undefined) throw new Error('Ledger function returned no row');
  return answer;
}

/** The amount that the user can spend, and the part of it that can be sent. Null means unlimited. */
type Limits = { available: bigint | null; sendable?: bigint | null };

/**
 * Throws AppError 'insufficient_funds', 'not_sendable' or 'idempotency_conflict' unless the credits were
 * moved.
 */
export function assertMoved(outcome: MoveOutcome, amountMicro: bigint, limits: Limits): void {
  if (outcome === 'insufficient_funds') throw insufficientFunds(amountMicro, limits.available);
  if (outcome === 'not_sendable')
    throw notSendable(amountMicro, limits.sendable ?? 0n, {
      reason: 'Promotional credits can be spent but not sent',
    });
  if (outcome === 'owed')
    throw notSendable(amountMicro, limits.sendable ?? 0n, {
      reason: 'A payment was reversed and is still owed',
    });
  if (outcome === 'idempotency_conflict') throw idempotencyConflict();
}

/** Throws AppError 'insufficient_funds' or 'conflict' unless the hold was raised. */
export function assertExtended(
  { outcome, available }: { outcome: ExtensionOutcome; available: bigint | null },
  { holdId, missing }: { holdId: string; missing: bigint | null },
): void {
  if (outcome === 'insufficient_funds') throw insufficientFunds(missing, available);
  if (outcome === 'not_found') throw new Error(`There is no hold ${holdId}`);
  if (outcome === 'ended') throw holdEnded();
}

/** Returns the error for a cost above the available amount. */
export function insufficientFunds(requiredMicro: bigint | null, available: bigint | null): AppError {
  const required_amount = formatBgl(requiredMicro ?? 0n);
  const available_amount = formatBgl(available ?? 0n);
  return new AppError('insufficient_funds', {
    publicMessage: `Insufficient balance. Required: ${required_amount} BGL. Available: ${available_amount} BGL.`,
    data: { required_amount, available_amount },
  });
}

/** Returns the error for an amount above the sendable one. */
export function notSendable(
  requiredMicro: bigint,
  sendableMicro: bigint,
  { reason, now = '' }: { reason: string; now?: string },
): AppError {
  const available_amount = formatBgl(sendableMicro);
  const template = `${reason}. You can send up to {sendable}${now}.`;
  const { publicMessage, data } = messageWithAmounts(template, { sendable: available_amount });
  return new AppError('not_sendable', {
    ...{ publicMessage, param: 'amount' },
    data: { required_amount: formatBgl(requiredMicro), available_amount, ...data },
  });
}

/** Returns the error for a hold that was already settled or released. */
export function holdEnded(): AppError {
  return conflict('The credits held for this work were already charged or released');
}

/** Notifies the owners of these accounts that their balance changed. */
export async function publishBalance(tx: Transaction, accountIds: (string | null)[]): Promise<void> {
  const owners = accountIds.flatMap((id) => (id === null ? [] : (accountOwner(id) ?? [])));
  // One call for all: separate calls could deadlock with a concurrent transfer in the other direction.
  await publishChanges(
    tx,
    owners.map((userId) => ({ userId, event: { topic: 'balance', id: userId } })),
  );
}
