import { formatBgl } from '@bakehouse/contract/money';
import type { RawBuilder } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { idempotencyConflict } from '../../../platform/db/idempotency/idempotent.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChanges } from '../../../platform/events/publish-change.ts';
import { accountOwner } from './accounts.ts';

/**
 * The writers of the ledger are the verbs beside this file: each is one call of a function in
 * server/migrations/functions (ledger_*), inside the caller's transaction, after whose commit every touched user hears that
 * their balance has changed. Amounts are micro-BGL. A verb that throws has changed nothing, and the
 * caller's transaction stays usable. They lock accounts until the transaction ends: make one move per
 * transaction, as its last work.
 *
 * Here is what those functions answer, and what their refusals say to the caller.
 */

export type MoveOutcome =
  | 'ok'
  | 'replayed'
  | 'idempotency_conflict'
  | 'insufficient_funds'
  | 'not_sendable'
  | 'owed';
export type ExtensionOutcome = 'ok' | 'insufficient_funds' | 'ended' | 'not_found';

/** Asks one of the ledger's functions, which answers one row. */
export async function callOnce<Answer>(
  db: Database | Transaction,
  query: RawBuilder<unknown>,
): Promise<Answer> {
  const { rows } = await query.$castTo<Answer>().execute(db);
  return oneOf(rows);
}

/** The one row of an answer that always has one. */
export function oneOf<Answer>([answer]: Answer[]): Answer {
  if (answer === undefined) throw new Error('The ledger gave no answer');
  return answer;
}

/** What can be spent, and how much of it can be sent; null where there is no limit. */
type Limits = { available: bigint | null; sendable?: bigint | null };

/** Throws AppError 'insufficient_funds', 'not_sendable' or 'idempotency_conflict' unless it was moved, now or before. */
export function refuseUnlessMoved(outcome: MoveOutcome, amountMicro: bigint, limits: Limits): void {
  if (outcome === 'insufficient_funds') throw insufficientFunds(amountMicro, limits.available);
  if (outcome === 'not_sendable')
    throw notSendable(amountMicro, limits.sendable ?? 0n, 'Given credits can be spent but not sent');
  if (outcome === 'owed')
    throw notSendable(
      amountMicro,
      limits.sendable ?? 0n,
      'A payment of yours was taken back and is still owed',
    );
  if (outcome === 'idempotency_conflict') throw idempotencyConflict();
}

/** Throws AppError 'insufficient_funds' or 'conflict' unless the hold is larger now. */
export function refuseUnlessExtended(
  { outcome, available }: { outcome: ExtensionOutcome; available: bigint | null },
  { holdId, missing }: { holdId: string; missing: bigint | null },
): void {
  if (outcome === 'insufficient_funds') throw insufficientFunds(missing, available);
  if (outcome === 'not_found') throw new Error(`There is no hold ${holdId}`);
  if (outcome === 'ended') throw holdEnded();
}

/** The refusal of what costs more than there is. */
export function insufficientFunds(requiredMicro: bigint | null, available: bigint | null): AppError {
  const required_amount = formatBgl(requiredMicro ?? 0n);
  const available_amount = formatBgl(available ?? 0n);
  return new AppError('insufficient_funds', {
    publicMessage: `Insufficient balance. Required: ${required_amount} BGL. Available: ${available_amount} BGL.`,
    data: { required_amount, available_amount },
  });
}

function notSendable(requiredMicro: bigint, sendable: bigint, reason: string): AppError {
  const required_amount = formatBgl(requiredMicro);
  const available_amount = formatBgl(sendable);
  return new AppError('not_sendable', {
    publicMessage: `${reason}. You can send up to ${available_amount} BGL.`,
    param: 'amount',
    data: { required_amount, available_amount },
  });
}

/** The hold was settled or released before. */
export function holdEnded(): AppError {
  return new AppError('conflict', {
    publicMessage: 'The credits held for this work were already charged or released',
  });
}

/** Announces to the owners of these accounts that their balance changed. */
export async function publishBalance(tx: Transaction, accountIds: (string | null)[]): Promise<void> {
  const owners = accountIds.flatMap((id) => (id === null ? [] : (accountOwner(id) ?? [])));
  // At once: one after the other, two transfers between the same two people could wait for each other.
  await publishChanges(
    tx,
    owners.map((userId) => ({ userId, event: { topic: 'balance', id: userId } })),
  );
}
