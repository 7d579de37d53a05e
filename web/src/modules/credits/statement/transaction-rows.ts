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
  /** What one deployment cost on one day. */
  | { kind: 'group'; key: string; transactions: Transaction[] };

/** The heading of what is held now: the server sends it first, whenever it began. */
const PENDING = 'Pending';

/**
 * The list with a heading before each day's first line, newest first, as the server sends it; what is pending has a
 * heading of its own. What a deployment was charged several times on a day is one row, at the place of the newest charge.
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

/** What the line is shown together with; null where it stands alone. What is still held has not been charged. */
function groupOf({ pod_id, status, transaction_type }: Transaction, day: string): string | null {
  if (pod_id === null || status === 'pending' || isIncoming({ transaction_type })) return null;
  return `${day} ${pod_id}`;
}

/** What a group of charges is for: hours bear the deployment's title, tokens only the name that calls use. */
export function nameOfGroup(transactions: readonly Transaction[]): string {
  const named = transactions.find((one) => one.usage_window_id === null) ?? transactions[0];
  return named?.asset_name ?? named?.description ?? '';
}

/** The page of the work that the line is about; null where there is none. */
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
 * The balance after each settled movement, reckoned back from `balance`, which the newest of them has left. Pending
 * ones have moved nothing yet and are left out.
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
