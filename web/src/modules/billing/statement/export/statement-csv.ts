import { isIncoming } from '../transaction-rows.ts';
import type { ExportedRow } from './read-key-statement.ts';

const header = [
  'date',
  'type',
  'description',
  'asset',
  'amount_bgl',
  'balance_bgl',
  'transaction_id',
  'hash',
];

/**
 * Returns the statement as CSV (RFC 4180): times in UTC, amounts in BGL with every decimal, outgoing ones
 * negative, newest first. A statement of one API key has no balances.
 */
export function statementCsv(rows: readonly ExportedRow[]): string {
  const lines = rows.map(({ transaction, balanceAfter }) => [
    transaction.transaction_date,
    transaction.transaction_type,
    plainText(transaction.description),
    plainText(transaction.asset_name ?? ''),
    `${isIncoming(transaction) ? '' : '-'}${transaction.amount}`,
    balanceAfter ?? '',
    transaction.transaction_id,
    transaction.transaction_hash ?? '',
  ]);
  return [header, ...lines].map((line) => `${line.map(quoted).join(',')}\r\n`).join('');
}

/** Escapes text that a spreadsheet would run as a formula, e.g. a name chosen by another user. */
function plainText(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
