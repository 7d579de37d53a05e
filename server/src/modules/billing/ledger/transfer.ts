import { sql } from 'kysely';
import { type Transaction, toJson } from '../../../platform/db/database.ts';
import { assertMoved, callOnce, type MoveOutcome, publishBalance } from './ledger-answers.ts';

export type TransferKind = 'grant' | 'purchase' | 'transfer' | 'charge' | 'refund' | 'expiry' | 'chargeback';

/** The subject of a transfer, shown in statements and covered by the seal. */
export type References = {
  asset_name?: string;
  dataset_id?: string;
  model_id?: string;
  run_id?: string;
  pod_id?: string;
  generation_id?: string;
  request_id?: string;
  /** The API key of the call: a hold counts towards its budget. */
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
  /** Unique in the ledger, starting with caller and operation. Null makes repeated calls unsafe. */
  idempotencyKey: string | null;
  /** Transfers given credits: spent first, not sendable, expiring at `expiresAt` (null: never). */
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
 * Moves credits immediately. Repeating the call with the same key returns the first transfer's id, and
 * `isReplayed`. Throws AppError 'insufficient_funds', 'idempotency_conflict', or 'not_sendable' for given
 * credits sent to another user.
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
