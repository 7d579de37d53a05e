import { listTransactions } from '@bakehouse/contract/credits';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { call } from '../../../../lib/api/api-client.ts';
import { storedRead } from '../../../../lib/api/stored-read.ts';
import { withTimeZone } from '../period.ts';
import type { Transaction } from '../transaction-rows.ts';
import { readNewest } from './read-newest.ts';

const PAGE_LENGTH = 100;

type Page = {
  transactions: Transaction[];
  next_cursor: string | null;
  /** With the first page: what its newest movement has left. */
  balance?: string;
};

/** All movements since a day, of every key, with the balance to reckon back from. */
export const statementQuery = (userId: string, from: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['transaction', 'statement', userId, { from }],
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const operation = 'load the transactions';
      const readPage = () =>
        call(
          listTransactions,
          {
            params: { userId },
            query: { ...withTimeZone({ from }), limit: PAGE_LENGTH, cursor: pageParam ?? undefined },
          },
          { signal, ...storedRead(), operation },
        );
      if (pageParam !== null) return readPage();
      // Read apart, one of them would now and then be younger than the other, and every line wrong.
      const { page, balance } = await readNewest(userId, readPage, { signal, operation });
      return { ...page, balance };
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
