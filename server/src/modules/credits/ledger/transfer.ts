import { sql } from 'kysely';
import { type Transaction, toJson } from '../../../platform/db/database.ts';
import { callOnce, type MoveOutcome, publishBalance, refuseUnlessMoved } from './ledger-answers.ts';

export type TransferKind = 'grant' | 'purchase' | 'transfer' | 'charge' | 'refund' | 'expiry' | 'chargeback';

/** What a movement is about; shown in statements and kept under the seal. */
export type References = {
  asset_name?: string;
  dataset_id?: string;
  model_id?: string;
  run_id?: string;
  pod_id?: string;
  generation_id?: string;
  request_id?: string;
  /** The API key that asked for it: a hold counts against its budget. */
  key_id?: string;
  purchase_id?: string;
  /** The other side of an invitation. */
  inviter_id?: string;
  invited_id?: string;
  /** The usage window that the hold stands for. */
  usage_window_id?: string;
};

type Transfer = {
  debitAccountId: string;
  creditAccountId: string;
  amountMicro: bigint;
  kind: TransferKind;
  description: string;
  references?: References;
  /** Unique in the whole ledger: begin it with who and what. Null: cannot be repeated safely. */
  idempotencyKey: string | null;
  /** They come as given credits: spent first, never sent, and gone at `expiresAt`; null is never. */
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
 * Moves credits at once. The same key with the same transfer answers with the first transfer's id, and `isReplayed`.
 * Throws AppError 'insufficient_funds', 'idempotency_conflict', or for given credits on the way to another user
 * 'not_sendable'.
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
  refuseUnlessMoved(answer.outcome, amountMicro, answer);
  if (answer.outcome === 'ok') await publishBalance(tx, [debitAccountId, creditAccountId]);
  return { transferId: answer.transfer_id, isReplayed: answer.outcome === 'replayed' };
}
