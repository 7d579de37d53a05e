import {
  getBalance,
  getUsageWindow,
  listAccounts,
  listPrices,
  listSpend,
  listTransactions,
} from '@bakehouse/contract/credits';
import { useQuery } from '@tanstack/react-query';
import { assetReadLimits } from '../../lib/api/asset-read-limits.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { endpointPages } from '../../lib/live/paged-query.ts';
import { type Period, withTimeZone } from './statement/period.ts';

/** Explains why a new account has no starting credits: its email address had an account before. */
export const NO_STARTING_CREDITS =
  'Starting credits are granted once per email address, and yours already had an account here.';

const POLL_MS = 10_000;
const PAGE_LENGTH = 100;

export const balanceQuery = (userId: string) =>
  endpointQuery(['balance', userId], getBalance, { params: { userId } });

/** Balance, held and available credits; refreshed with the ledger. */
export function useBalance(userId: string) {
  return useQuery({ ...balanceQuery(userId), refetchInterval: useFallbackInterval(POLL_MS) });
}

export const transactionsQuery = (userId: string, filter: Period & { key?: string | undefined }) =>
  endpointPages(
    ['transaction', userId, filter],
    listTransactions,
    {
      params: { userId },
      query: {
        ...withTimeZone({ from: filter.from, to: filter.to }),
        key_id: filter.key,
        limit: PAGE_LENGTH,
      },
    },
    { rows: 'transactions', id: 'transaction_id', newestFirst: true, call: assetReadLimits() },
  );

/** The model answers that are charged in one statement line, newest first. */
export const usageWindowQuery = (windowId: string) =>
  endpointPages(
    ['transaction', 'usage-window', windowId],
    getUsageWindow,
    { params: { windowId } },
    { rows: 'answers', id: 'id', newestFirst: true, call: assetReadLimits() },
  );

export const pricesQuery = endpointQuery(
  ['prices'],
  listPrices,
  {},
  {
    // Operators may change prices.
    staleTime: 60_000,
  },
);

/** Searches users by name or address, with their balances; for operators. */
export const accountsQuery = (search: string) =>
  endpointPages(
    ['account', search],
    listAccounts,
    { query: { search } },
    { rows: 'accounts', id: 'user_id', staleTime: 0 },
  );

/** Daily spending of a period of at most a year; without a first day, of the last 30 days. */
export const spendQuery = (userId: string, period: Period) =>
  endpointQuery(
    ['transaction', 'spend', userId, period],
    listSpend,
    { params: { userId }, query: withTimeZone(period) },
    { call: assetReadLimits() },
  );
