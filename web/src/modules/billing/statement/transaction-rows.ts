import type { transaction } from '@bakehouse/contract/credits';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type * as z from 'zod';
import { dayHeading, localDay } from '../../../lib/format/format-time.ts';

export type Transaction = z.infer<typeof transaction>;

const incomingTypes = new Set<string>(['credit', 'deposit', 'refund']);

export function isIncoming({ transaction_type }: Pick<Transaction, 'transaction_type'>): boolean {
  return incomingTypes.has(transaction_type);
}

export type ListRow =
  | { kind: 'day'; key: string; heading: string }
  | { kind: 'transaction'; key: string; transaction: Transaction }
  /** One deployment's charges on one day. */
  | { kind: 'group'; key: string; transactions: Transaction[] };

/** Heading of pending transactions, which the server returns first. */
const PENDING = 'Pending';

/**
 * Returns the server's list, newest first, with a heading for each day and one for pending transactions.
 * Several charges of a deployment on one day become one row, at the position of the newest.
 */
export function groupByDay(transactions: readonly Transaction[], now: Date = new Date()): ListRow[] {
  const rows: ListRow[] = [];
  const groups = new Map<string, number>();
  let day = '';
  for (const transaction of transactions) {
    const date = new Date(transaction.transaction_date);
    const isPending = transaction.status === 'pending';
    const thisDay = isPending ? PENDING : localDay(date);
    const heading = isPending ? PENDING : dayHeading(date, now);
    if (thisDay !== day) rows.push({ kind: 'day', key: thisDay, heading });
    day = thisDay;
    const key = groupOf(transaction, day);
    const place = key === null ? undefined : groups.get(key);
    const known = place === undefined ? undefined : rows[place];
    if (key !== null && place !== undefined && known && known.kind !== 'day') {
      const before = known.kind === 'group' ? known.transactions : [known.transaction];
      rows[place] = { kind: 'group', key, transactions: [...before, transaction] };
      continue;
    }
    if (key !== null) groups.set(key, rows.length);
    rows.push({ kind: 'transaction', key: transaction.transaction_id, transaction });
  }
  return rows;
}

/**
 * Returns the key of the line's group, or null. Pending transactions are not grouped, because they are not
 * charged yet.
 */
function groupOf({ pod_id, status, transaction_type }: Transaction, day: string): string | null {
  if (pod_id === null || status === 'pending' || isIncoming({ transaction_type })) return null;
  return `${day} ${pod_id}`;
}

/**
 * Returns the name of a group: hourly charges have the deployment's title, token charges only its model name.
 */
export function nameOfGroup(transactions: readonly Transaction[]): string {
  const named = transactions.find((one) => one.usage_window_id === null) ?? transactions[0];
  return named?.asset_name ?? named?.description ?? '';
}

/** Returns the link to the line's work, or null. */
export function workOf({ run_id, pod_id, generation_id, model_id, dataset_id }: Transaction) {
  if (run_id !== null) return { to: '/runs/$id', params: { id: run_id } } as const;
  if (pod_id !== null) return { to: '/my-deployments/$podId', params: { podId: pod_id } } as const;
  if (generation_id !== null) return { to: '/gallery/$id', params: { id: generation_id } } as const;
  if (model_id !== null) return { to: '/model/$id/description', params: { id: model_id } } as const;
  if (dataset_id !== null) return { to: '/dataset/$id/description', params: { id: dataset_id } } as const;
  return null;
}

export type StatementRow = { transaction: Transaction; balanceAfter: string };

/**
 * Returns each settled movement with the balance after it. `balance` is the balance after the newest one;
 * earlier balances are computed backwards from it. Skips pending movements.
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

/** Returns the sums of incoming and outgoing amounts and their difference, in decimal BGL. */
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
