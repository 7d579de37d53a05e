import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { Pager } from '../../../../ui/pager.tsx';
import { QueryView } from '../../../../ui/query-view.tsx';
import { useUser } from '../../../accounts/session.ts';
import { transactionsQuery, useBalance } from '../../credit-queries.ts';
import { LOADING_FAILED, LoadingTransactions } from '../list-states.tsx';
import type { Period } from '../period.ts';
import { StatementSummary } from '../statement-summary.tsx';
import { StatementTable } from '../statement-table.tsx';
import { withRunningBalance } from '../transaction-rows.ts';

type Props = {
  period: Period;
  /** Shown instead of the table if there are no movements. */
  nothing: ReactNode;
};

/** Settled movements with the balance after each, computed back from the balance at the end of the period. */
export function Statement({ period: { from, to }, nothing }: Props) {
  const user = useUser();
  const balance = useBalance(user.id);
  const list = useInfiniteQuery(transactionsQuery(user.id, { from, to }));
  const rows = useMemo(
    () =>
      list.data &&
      withRunningBalance(
        list.data.pages.flatMap((page) => page.transactions),
        list.data.pages[0]?.closing_balance ?? '0',
      ),
    [list.data],
  );
  return (
    <>
      <QueryView
        query={{ ...list, data: rows }}
        failed={LOADING_FAILED}
        retryLabel="Try Again"
        pending={<LoadingTransactions />}
        isEmpty={(all) => all.length === 0 && !list.hasNextPage}
        empty={nothing}
        flush
      >
        {(all) => (
          <>
            <StatementSummary rows={all} hasMore={list.hasNextPage} sendable={balance.data?.sendable} />
            <StatementTable rows={all} />
          </>
        )}
      </QueryView>
      <Pager pages={list} />
    </>
  );
}
