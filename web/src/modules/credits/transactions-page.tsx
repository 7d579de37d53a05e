import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ReceiptText } from 'lucide-react';
import { useMemo } from 'react';
import { localDay } from '../../lib/format-time.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { moreOf } from '../../ui/load-more.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/api.ts';
import { transactionsQuery, useBalance } from './api.ts';
import { usablePeriod } from './period.ts';
import { PeriodFields } from './period-fields.tsx';
import { SpendCard } from './spend-card.tsx';
import { StatementSummary } from './statement-summary.tsx';
import { StatementTable } from './statement-table.tsx';
import { TransactionList } from './transaction-list.tsx';
import { untilDay, withRunningBalance } from './transaction-rows.ts';

/** Every movement of the account: by day, or as a statement with the balance after each. Filters live in the URL. */
export function TransactionsPage() {
  const user = useUser();
  const { view = 'list', ...asked } = useSearch({ from: '/app/transactions' });
  const { from, to } = usablePeriod(asked, localDay(new Date()));
  // The statement reckons back from today's balance, so it needs what came after `to` as well.
  const filter = view === 'statement' ? { from } : { from, to };
  const list = useInfiniteQuery(transactionsQuery(user.id, filter));
  const balance = useBalance(user.id);
  const transactions = useMemo(
    () => list.data?.pages.flatMap((page) => page.transactions) ?? [],
    [list.data],
  );
  const statement = useMemo(
    () => (balance.data ? untilDay(withRunningBalance(transactions, balance.data.balance), to) : []),
    [transactions, balance.data, to],
  );
  const more = moreOf(list);
  // What was read once stays in sight when reading it again fails.
  const missing = !list.data ? list : view === 'statement' && !balance.data ? balance : null;
  const filtered = from !== undefined || to !== undefined;

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
          {list.isPending || (view === 'statement' && balance.isPending) ? (
            <Loading />
          ) : missing ? (
            <ErrorState
              title="Error Loading Transactions"
              error={missing.error}
              retryLabel="Try Again"
              onRetry={() => void missing.refetch()}
            />
          ) : (view === 'statement' ? statement : transactions).length === 0 && !list.hasNextPage ? (
            <EmptyState
              icon={<ReceiptText aria-hidden />}
              title="No transactions found"
              description={
                filtered
                  ? 'There were no transactions in this period.'
                  : 'Credits you receive and spend appear here.'
              }
              action={
                filtered && (
                  <ButtonLink to="/transactions" search={{}}>
                    Show all
                  </ButtonLink>
                )
              }
            />
          ) : view === 'statement' ? (
            <>
              <StatementSummary
                rows={statement}
                hasMore={list.hasNextPage}
                sendable={balance.data?.sendable}
                from={from}
                to={to}
              />
              <StatementTable rows={statement} {...more} />
            </>
          ) : (
            <TransactionList transactions={transactions} {...more} />
          )}
        </Card>
      </div>
    </>
  );
}

function Toolbar() {
  const { from, to, view = 'list' } = useSearch({ from: '/app/transactions' });
  const navigate = useNavigate({ from: '/transactions' });
  const set = (change: { from?: string; to?: string; view?: 'statement' }) =>
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
      <PeriodFields period={{ from, to }} onChange={set} />
    </div>
  );
}

function Loading() {
  return (
    <LoadingRegion label="Loading transactions" className="divide-y divide-line">
      {Array.from({ length: 8 }, (_, index) => (
        <div key={index} className="flex items-center justify-between gap-6 px-5 py-3.5">
          <div className="flex-1">
            <Skeleton className="h-4 w-2/5" />
            <Skeleton className="mt-2 h-3 w-24" />
          </div>
          <Skeleton className="h-4 w-20" />
        </div>
      ))}
    </LoadingRegion>
  );
}
