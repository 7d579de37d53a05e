import { useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { Pager } from '../../../../ui/pager.tsx';
import { QueryView } from '../../../../ui/query-view.tsx';
import { useUser } from '../../../accounts/api.ts';
import { useBalance } from '../../api.ts';
import { LOADING_FAILED, LoadingTransactions } from '../list-states.tsx';
import type { Period } from '../period.ts';
import { StatementSummary } from '../statement-summary.tsx';
import { StatementTable } from '../statement-table.tsx';
import { untilDay, withRunningBalance } from '../transaction-rows.ts';
import { statementQuery } from './statement-query.ts';

type Props = {
  period: Period;
  /** In place of the table where there is nothing to list. */
  nothing: ReactNode;
};

/** The settled movements with the balance after each, reckoned back from the one that was read with them. */
export function Statement({ period: { from, to }, nothing }: Props) {
  const user = useUser();
  const balance = useBalance(user.id);
  // It reckons back from today, so it needs what came after `to`.
  const list = useInfiniteQuery(statementQuery(user.id, from));
  const rows = useMemo(() => {
    const left = list.data?.pages[0]?.balance;
    if (!list.data || left === undefined) return undefined;
    const transactions = list.data.pages.flatMap((page) => page.transactions);
    return untilDay(withRunningBalance(transactions, left), to);
  }, [list.data, to]);
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
