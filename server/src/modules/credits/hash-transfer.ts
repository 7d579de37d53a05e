import { createHash } from 'node:crypto';

/** A transfer as it is sealed: every column of its row, exact, as text. */
export type SealableTransfer = {
  seq: bigint;
  id: string;
  debit_account_id: string;
  credit_account_id: string;
  amount: bigint;
  kind: string;
  description: string;
  refs: Record<string, string>;
  hold_id: string | null;
  idempotency_key: string | null;
  /** UTC with microseconds: 2026-01-31T12:00:00.000000Z. */
  created_at_utc: string;
};

/** What the first seal takes for the hash before it. */
export const FIRST_HASH = '0'.repeat(64);

/**
 * The seal of a transfer: SHA-256, in hex, over the JSON array of the previous seal and the
 * transfer's columns in the order below, with `refs` as pairs sorted by name.
 */
export function hashTransfer(previousHash: string, transfer: SealableTransfer): string {
  const fields = [
    previousHash,
    transfer.seq.toString(),
    transfer.id,
    transfer.debit_account_id,
    transfer.credit_account_id,
    transfer.amount.toString(),
    transfer.kind,
    transfer.description,
    Object.entries(transfer.refs).sort(([a], [b]) => (a < b ? -1 : 1)),
    transfer.hold_id,
    transfer.idempotency_key,
    transfer.created_at_utc,
  ];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}
