import {
  getBalance,
  getLedger,
  getUsageWindow,
  grantCredits,
  listPrices,
  listSpend,
  listTransactions,
} from '@bakehouse/contract/credits';
import { infiniteQueryOptions, queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api-client.ts';
import { ApiError } from '../../lib/api-error.ts';
import { useFallbackInterval } from '../../lib/event-stream.ts';
import { queryClient } from '../../lib/query-client.ts';
import { type Period, withTimeZone } from './period.ts';

export { BalanceCard } from './balance-card.tsx';

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

export const transactionsQuery = (userId: string, filter: Period) =>
  infiniteQueryOptions({
    queryKey: ['transaction', userId, filter],
    queryFn: ({ pageParam, signal }) =>
      call(
        listTransactions,
        {
          params: { userId },
          query: { ...withTimeZone(filter), limit: PAGE_LENGTH, cursor: pageParam ?? undefined },
        },
        { signal, operation: 'load the transactions' },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });

/** The single answers that a line of the statement is made of, newest first. */
export const usageWindowQuery = (windowId: string) =>
  infiniteQueryOptions({
    queryKey: ['transaction', 'usage-window', windowId],
    queryFn: ({ pageParam, signal }) =>
      call(
        getUsageWindow,
        { params: { windowId }, query: { cursor: pageParam ?? undefined } },
        { signal, operation: 'load the answers' },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });

export const pricesQuery = queryOptions({
  queryKey: ['prices'],
  queryFn: ({ signal }) => call(listPrices, {}, { signal, operation: 'load the prices' }),
  staleTime: Number.POSITIVE_INFINITY,
});

export const ledgerQuery = queryOptions({
  queryKey: ['ledger'],
  queryFn: ({ signal }) => call(getLedger, {}, { signal, operation: 'load the ledger', timeoutMs: 30_000 }),
  staleTime: 0,
});

export type Grant = { recipient_id: string; amount: string; description?: string };

export function useGrantCredits() {
  return useMutation({
    meta: { inPlace: isUnknownRecipient },
    mutationFn: ({ grant, idempotencyKey }: { grant: Grant; idempotencyKey: string }) =>
      call(grantCredits, { body: grant }, { idempotencyKey, operation: 'grant credits' }),
    onSuccess: () =>
      Promise.all(
        ['ledger', 'balance', 'transaction'].map((family) =>
          queryClient.invalidateQueries({ queryKey: [family] }),
        ),
      ),
  });
}

/** Nobody has the name or address that was typed: the form says so under its field. */
export function isUnknownRecipient(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'not_found';
}

export const spendQuery = (userId: string, filter: Period) =>
  queryOptions({
    queryKey: ['transaction', 'spend', userId, filter],
    queryFn: ({ signal }) =>
      call(
        listSpend,
        { params: { userId }, query: withTimeZone(filter) },
        { signal, operation: 'load the spending' },
      ),
  });
