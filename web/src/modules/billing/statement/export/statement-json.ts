import { isIncoming } from '../transaction-rows.ts';
import type { ExportedRow } from './read-key-statement.ts';

/**
 * Returns the statement as JSON: amounts as strings in BGL with every decimal, outgoing ones negative, newest
 * first.
 */
export function statementJson(rows: readonly ExportedRow[]): string {
  const transactions = rows.map(({ transaction, balanceAfter }) => ({
    ...transaction,
    amount: `${isIncoming(transaction) ? '' : '-'}${transaction.amount}`,
    balance: balanceAfter,
  }));
  return `${JSON.stringify({ currency: 'BGL', transactions }, null, 2)}\n`;
}
