import type { transaction } from '@bakehouse/contract/credits';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type * as z from 'zod';
import { dayHeading, localDay } from '../../lib/format-time.ts';

export type Transaction = z.infer<typeof transaction>;

const incomingTypes = new Set<string>(['credit', 'deposit', 'refund']);

export function isIncoming({ transaction_type }: Pick<Transaction, 'transaction_type'>): boolean {
  return incomingTypes.has(transaction_type);
}

export type ListRow =
  | { kind: 'day'; key: string; heading: string }
  | { kind: 'transaction'; key: string; transaction: Transaction };

/** The list with a heading before each day's first line. Newest first, as the server sends it. */
export function groupByDay(transactions: readonly Transaction[], now: Date = new Date()): ListRow[] {
  let day = '';
  return transactions.flatMap((transaction): ListRow[] => {
    const date = new Date(transaction.transaction_date);
    const row: ListRow = { kind: 'transaction', key: transaction.transaction_id, transaction };
    const thisDay = localDay(date);
    if (thisDay === day) return [row];
    day = thisDay;
    return [{ kind: 'day', key: thisDay, heading: dayHeading(date, now) }, row];
  });
}

export type StatementRow = { transaction: Transaction; balanceAfter: string };

/**
 * The balance after each settled movement, reckoned back from today's. `transactions` must begin with the
 * newest of all; pending ones have moved nothing yet and are left out.
 */
export function withRunningBalance(transactions: readonly Transaction[], balance: string): StatementRow[] {
  let after = parseBgl(balance);
  return transactions
    .filter((transaction) => transaction.status === 'completed')
    .map((transaction) => {
      const row = { transaction, balanceAfter: formatBgl(after) };
      const amount = parseBgl(transaction.amount);
      after -= isIncoming(transaction) ? amount : -amount;
      return row;
    });
}

/** The rows up to the day `to` in the reader's time zone; all of them without it. */
export function untilDay(rows: readonly StatementRow[], to: string | undefined): StatementRow[] {
  return rows.filter(({ transaction }) => !to || localDay(new Date(transaction.transaction_date)) <= to);
}

/** What came in, what went out and the difference, in decimal BGL. */
export function totalsOf(rows: readonly StatementRow[]): { incoming: string; outgoing: string; net: string } {
  let incoming = 0n;
  let outgoing = 0n;
  for (const { transaction } of rows) {
    const amount = parseBgl(transaction.amount);
    if (isIncoming(transaction)) incoming += amount;
    else outgoing += amount;
  }
  return {
    incoming: formatBgl(incoming),
    outgoing: formatBgl(outgoing),
    net: formatBgl(incoming - outgoing),
  };
}
