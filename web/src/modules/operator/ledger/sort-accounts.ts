import { parseBgl } from '@bakehouse/contract/money';
import type { Sort } from '../../../ui/data-table.tsx';

type Account = { account_id: string; owner: string | null; balance: string; held: string; transfers: number };

/** Returns a sorted copy. Compares amounts exactly. */
export function sortAccounts<A extends Account>(accounts: readonly A[], { column, descending }: Sort): A[] {
  const sorted = accounts.toSorted((one, other) => {
    if (column === 'balance') return compare(parseBgl(one.balance), parseBgl(other.balance));
    if (column === 'held') return compare(parseBgl(one.held), parseBgl(other.held));
    if (column === 'transfers') return one.transfers - other.transfers;
    return (one.owner ?? one.account_id).localeCompare(other.owner ?? other.account_id);
  });
  return descending ? sorted.reverse() : sorted;
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
