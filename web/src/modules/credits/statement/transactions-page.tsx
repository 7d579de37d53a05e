import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { localDay } from '../../../lib/format/format-time.ts';
import { ButtonLink } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Pager } from '../../../ui/pager.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { useUser } from '../../accounts/api.ts';
import { transactionsQuery, useBalance } from '../api.ts';
import { ExportMenu } from './export/export-menu.tsx';
import { KeyField } from './key-field.tsx';
import { LOADING_FAILED, LoadingTransactions, NoTransactions } from './list-states.tsx';
import { type Period, usablePeriod } from './period.ts';
import { PeriodFields } from './period-fields.tsx';
import { PeriodTotals } from './period-totals.tsx';
import { SpendCard } from './spend-card.tsx';
import { StatementSummary } from './statement-summary.tsx';
import { StatementTable } from './statement-table.tsx';
import { TransactionList } from './transaction-list.tsx';
import { type Transaction, untilDay, withRunningBalance } from './transaction-rows.ts';

/** Every movement of the account: by day, or as a statement with the balance after each. Filters live in the URL. */
export function TransactionsPage() {
  const user = useUser();
  const { view = 'list', key: askedKey, ...asked } = useSearch({ from: '/app/transactions' });
  const { from, to } = usablePeriod(asked, localDay(new Date()));
  // The statement reckons back from today's balance, so it needs what came after `to`, and of every key.
  const key = view === 'statement' ? undefined : askedKey;
  const filter = view === 'statement' ? { from } : { from, to, key };
  const list = useInfiniteQuery(transactionsQuery(user.id, filter));
  const transactions = useMemo(() => list.data?.pages.flatMap((page) => page.transactions), [list.data]);
  const filtered = (from ?? to ?? key) !== undefined;
  const nothing = (
    <NoTransactions
      filtered={filtered}
      showAll={
        <ButtonLink to="/transactions" search={{}}>
          Show all
        </ButtonLink>
      }
    />
  );

  return (
    <>
      <PageHeader
        title="Transaction History"
        description="Every credit in and out. Amounts on hold are pending until their work has ended."
      />
      <div className="grid grid-cols-1 gap-6">
        <SpendCard from={from} to={to} />
        <Card flush>
          <Toolbar />
          <Totals from={from} to={to} chosenKey={key} />
          <QueryView
            query={{ ...list, data: transactions }}
            failed={LOADING_FAILED}
            retryLabel="Try Again"
            pending={<LoadingTransactions />}
            isEmpty={(rows) => rows.length === 0 && !list.hasNextPage}
            empty={nothing}
            flush
          >
            {(rows) =>
              view === 'statement' ? (
                <Statement
                  transactions={rows}
                  period={{ from, to }}
                  hasMore={list.hasNextPage}
                  nothing={nothing}
                />
              ) : (
                <TransactionList transactions={rows} />
              )
            }
          </QueryView>
          <Pager pages={list} />
        </Card>
      </div>
    </>
  );
}

type StatementProps = {
  transactions: readonly Transaction[];
  period: Period;
  hasMore: boolean;
  nothing: ReactNode;
};

/** The settled movements with the balance after each, reckoned back from the present one. */
function Statement({ transactions, period, hasMore, nothing }: StatementProps) {
  const balance = useBalance(useUser().id);
  const now = balance.data?.balance;
  const rows = useMemo(
    () => (now === undefined ? undefined : untilDay(withRunningBalance(transactions, now), period.to)),
    [transactions, now, period.to],
  );
  return (
    <QueryView
      query={{ ...balance, data: rows }}
      failed={LOADING_FAILED}
      retryLabel="Try Again"
      pending={<LoadingTransactions />}
      isEmpty={(all) => all.length === 0 && !hasMore}
      empty={nothing}
      flush
    >
      {(all) => (
        <>
          <StatementSummary rows={all} hasMore={hasMore} sendable={balance.data?.sendable} />
          <StatementTable rows={all} />
        </>
      )}
    </QueryView>
  );
}

/** The same for both views: the statement may begin after the period, to reckon back from today. */
function Totals({ from, to, chosenKey: key }: Period & { chosenKey: string | undefined }) {
  const { data, isError } = useInfiniteQuery(transactionsQuery(useUser().id, { from, to, key }));
  return <PeriodTotals summary={data?.pages[0]?.summary} failed={isError} />;
}

function Toolbar() {
  const { from, to, view = 'list', key } = useSearch({ from: '/app/transactions' });
  const navigate = useNavigate({ from: '/transactions' });
  const period = usablePeriod({ from, to }, localDay(new Date()));
  const set = (change: { from?: string; to?: string; view?: 'statement'; key?: string }) =>
    void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true, resetScroll: false });
  return (
    <div className="flex flex-wrap items-start justify-between gap-3 border-line border-b px-5 py-3.5">
      <Segmented
        label="View"
        className="sm:mt-6.5"
        value={view}
        onChange={(next) => set({ view: next === 'statement' ? next : undefined })}
        options={[
          { value: 'list', label: 'By day' },
          { value: 'statement', label: 'Statement' },
        ]}
      />
      <div className="flex flex-wrap items-start gap-3 max-sm:w-full">
        {view === 'list' && (
          <KeyField period={period} value={key} onChange={(chosen) => set({ key: chosen })} />
        )}
        <PeriodFields period={{ from, to }} onChange={set} />
        {/* A file has the balance after each movement, and so all of them. */}
        {(key === undefined || view === 'statement') && (
          <div className="sm:mt-6.5">
            <ExportMenu period={period} />
          </div>
        )}
      </div>
    </div>
  );
}
