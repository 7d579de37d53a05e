import { sql } from 'kysely';
import { type Transaction, toJson } from '../../../platform/db/database.ts';
import { assertMoved, callOnce, type MoveOutcome, publishBalance } from './ledger-answers.ts';

export type TransferKind = 'grant' | 'purchase' | 'transfer' | 'charge' | 'refund' | 'expiry' | 'chargeback';

/** The objects to which a transfer refers. Statements show them, and the seal covers them. */
export type References = {
  asset_name?: string;
  dataset_id?: string;
  model_id?: string;
  run_id?: string;
  pod_id?: string;
  generation_id?: string;
  request_id?: string;
  /** The API key of the call. A hold with it counts towards the key's budget. */
  key_id?: string;
  purchase_id?: string;
  /** The other user of an invitation. */
  inviter_id?: string;
  invited_id?: string;
  /** The usage window to which the hold belongs. */
  usage_window_id?: string;
};

type Transfer = {
  debitAccountId: string;
  creditAccountId: string;
  amountMicro: bigint;
  kind: TransferKind;
  description: string;
  references?: References;
  /**
   * Unique in the ledger: starts with the caller and the operation. With null, a repeated call would transfer
   * again.
   */
  idempotencyKey: string | null;
  /**
   * Set to transfer given credits, which are spent first and cannot be sent. They expire at `expiresAt`;
   * never if it is null.
   */
  given?: { expiresAt: Date | null };
};

const givenUntil = (given: Transfer['given']): Date | string | null =>
  given === undefined ? null : (given.expiresAt ?? 'infinity');

type TransferAnswer = {
  outcome: MoveOutcome;
  transfer_id: string;
  available: bigint | null;
  sendable: bigint | null;
};

/**
 * Moves credits immediately. A repeated call with the same key moves nothing, and returns the first
 * transfer's id with `isReplayed`. Throws AppError 'insufficient_funds', 'idempotency_conflict', or
 * 'not_sendable' if given credits would go to another user.
 */
export async function transfer(
  tx: Transaction,
  input: Transfer,
): Promise<{ transferId: string; isReplayed: boolean }> {
  const { debitAccountId, creditAccountId, amountMicro } = input;
  const answer = await callOnce<TransferAnswer>(
    tx,
    sql`select * from ledger_transfer(
      ${debitAccountId}, ${creditAccountId}, ${amountMicro}, ${input.kind}, ${input.description},
      ${toJson(input.references ?? {})}, ${input.idempotencyKey}, ${givenUntil(input.given)})`,
  );
  assertMoved(answer.outcome, amountMicro, answer);
  if (answer.outcome === 'ok') await publishBalance(tx, [debitAccountId, creditAccountId]);
  return { transferId: answer.transfer_id, isReplayed: answer.outcome === 'replayed' };
}
