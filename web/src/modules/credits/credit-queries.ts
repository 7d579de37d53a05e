import {
  getBalance,
  getUsageWindow,
  listAccounts,
  listPrices,
  listSpend,
  listTransactions,
} from '@bakehouse/contract/credits';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { storedRead } from '../../lib/api/stored-read.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { pagedQuery } from '../../lib/live/paged-query.ts';
import { type Period, withTimeZone } from './statement/period.ts';

/** In place of starting credits, for an account whose address had one before. */
export const NO_STARTING_CREDITS =
  'Starting credits are given once per email address, and yours has had an account here before.';

const POLL_MS = 10_000;
const PAGE_LENGTH = 100;

export const balanceQuery = (userId: string) =>
  queryOptions({
    queryKey: ['balance', userId],
    queryFn: ({ signal }) =>
      call(getBalance, { params: { userId } }, { signal, operation: 'read the balance' }),
  });

/** Balance, held and available credits; follows the ledger. */
export function useBalance(userId: string) {
  return useQuery({ ...balanceQuery(userId), refetchInterval: useFallbackInterval(POLL_MS) });
}

export const transactionsQuery = (userId: string, filter: Period & { key?: string | undefined }) =>
  pagedQuery({
    queryKey: ['transaction', userId, filter],
    rows: 'transactions',
    id: 'transaction_id',
    newestFirst: true,
    read: (cursor, signal) =>
      call(
        listTransactions,
        {
          params: { userId },
          query: {
            ...withTimeZone({ from: filter.from, to: filter.to }),
            key_id: filter.key,
            limit: PAGE_LENGTH,
            cursor,
          },
        },
        { signal, ...storedRead(), operation: 'load the transactions' },
      ),
  });

/** The single answers that a line of the statement is made of, newest first. */
export const usageWindowQuery = (windowId: string) =>
  pagedQuery({
    queryKey: ['transaction', 'usage-window', windowId],
    rows: 'answers',
    id: 'id',
    newestFirst: true,
    read: (cursor, signal) =>
      call(
        getUsageWindow,
        { params: { windowId }, query: { cursor } },
        { signal, ...storedRead(), operation: 'load the answers' },
      ),
  });

export const pricesQuery = queryOptions({
  queryKey: ['prices'],
  queryFn: ({ signal }) => call(listPrices, {}, { signal, operation: 'load the prices' }),
  // Operators change them.
  staleTime: 60_000,
});

/** The users whose names or address have `search` in them, with their balances; for operators. */
export const accountsQuery = (search: string) =>
  pagedQuery({
    queryKey: ['account', search],
    rows: 'accounts',
    id: 'user_id',
    read: (cursor, signal) =>
      call(listAccounts, { query: { search, cursor } }, { signal, operation: 'load the accounts' }),
    staleTime: 0,
  });

/** What was spent on the days of a period, a year at most; without a first day on 30 days. */
export const spendQuery = (userId: string, period: Period) =>
  queryOptions({
    queryKey: ['transaction', 'spend', userId, period],
    queryFn: ({ signal }) =>
      call(
        listSpend,
        { params: { userId }, query: withTimeZone(period) },
        { signal, ...storedRead(), operation: 'load the spending' },
      ),
  });
