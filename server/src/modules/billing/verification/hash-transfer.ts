import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';

/** A transfer in its sealed form: every column of its row, as exact text. */
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
  /** The part of the amount in given credits. */
  given: bigint;
};

/** Reads a SealableTransfer from `ledger_transfers t`. */
export const sealableColumns = sql`
  t.seq, t.id, t.debit_account_id, t.credit_account_id, t.amount, t.kind, t.description, t.refs, t.hold_id,
  t.idempotency_key, to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at_utc,
  t.given`;

/** The hash before the first seal. */
export const FIRST_HASH = '0'.repeat(64);

/**
 * Returns the seal of a transfer: the SHA-256, in hex, of a JSON array. The array contains the previous seal
 * and the transfer's columns in the order below; `refs` is a list of pairs, sorted by name. The given amount
 * is the last column, and is left out if it is zero.
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
    ...(transfer.given > 0n ? [transfer.given.toString()] : []),
  ];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/**
 * SQL for `hashTransfer`, to hash many rows of `ledger_transfers t`. `previous` is the seal before each row.
 * If the two functions differ, `hashTransfer` is right.
 */
export const sqlHash = (previous: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  encode(sha256(convert_to('["' || ${previous} || ${sqlFields}, 'UTF8')), 'hex')`;

/** The part of the hashed JSON that follows the previous seal. */
export const sqlFields = sql`
  '","' || t.seq || '","' || t.id || '",' || to_json(t.debit_account_id) || ',' || to_json(t.credit_account_id) ||
  ',"' || t.amount || '",' || to_json(t.kind) || ',' || to_json(t.description) || ',' ||
  case when t.refs = '{}' then '[]' else (
    select '[' || string_agg('[' || to_json(key) || ',' || to_json(value) || ']', ',' order by key collate "C") || ']'
    from jsonb_each_text(t.refs)
  ) end || ',' ||
  coalesce('"' || t.hold_id || '"', 'null') || ',' || coalesce(to_json(t.idempotency_key)::text, 'null') ||
  ',"' || to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') ||
  case when t.given = 0 then '' else '","' || t.given end || '"]'`;
