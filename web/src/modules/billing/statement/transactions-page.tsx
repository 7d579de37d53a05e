import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { localDay } from '../../../lib/format/format-time.ts';
import { type SearchOf, useUrlSearch } from '../../../lib/url-search.ts';
import { ButtonLink } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Pager } from '../../../ui/pager.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { ResourcePage } from '../../../ui/resource/resource-page.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { useUser } from '../../accounts/session.ts';
import { transactionsQuery } from '../credit-queries.ts';
import type { transactionsSearch } from '../routes.ts';
import { Statement } from './balances/statement.tsx';
import { ExportMenu } from './export/export-menu.tsx';
import { KeyField } from './key-field.tsx';
import { LOADING_FAILED, LoadingTransactions, NoTransactions } from './list-states.tsx';
import { usablePeriod } from './period.ts';
import { PeriodFields } from './period-fields.tsx';
import { PeriodTotals } from './period-totals.tsx';
import { SpendCard } from './spend/spend-card.tsx';
import { TransactionList } from './transaction-list.tsx';

/**
 * All movements of the account: by day, or as a statement with the balance after each. Filters live in the
 * URL.
 */
export function TransactionsPage() {
  const { view = 'list', key: askedKey, ...asked } = useSearch({ from: '/app/transactions' });
  const { from, to } = usablePeriod(asked, localDay(new Date()));
  // The statement view cannot be filtered by key.
  const key = view === 'statement' ? undefined : askedKey;
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
    <ResourcePage
      title="Transaction History"
      description="All credits in and out. Holds are pending until their work ends."
    >
      <div className="grid grid-cols-1 gap-6">
        <SpendCard from={from} to={to} />
        <Card flush>
          <Toolbar />
          <Totals filter={{ from, to, key }} />
          {view === 'statement' ? (
            <Statement period={{ from, to }} nothing={nothing} />
          ) : (
            <ByDay filter={{ from, to, key }} nothing={nothing} />
          )}
        </Card>
      </div>
    </ResourcePage>
  );
}

type Filter = Parameters<typeof transactionsQuery>[1];
type ByDayProps = { filter: Filter; nothing: ReactNode };

function ByDay({ filter, nothing }: ByDayProps) {
  const list = useInfiniteQuery(transactionsQuery(useUser().id, filter));
  const transactions = useMemo(() => list.data?.pages.flatMap((page) => page.transactions), [list.data]);
  return (
    <>
      <QueryView
        query={{ ...list, data: transactions }}
        failed={LOADING_FAILED}
        retryLabel="Try Again"
        pending={<LoadingTransactions />}
        isEmpty={(rows) => rows.length === 0 && !list.hasNextPage}
        empty={nothing}
        flush
      >
        {(rows) => <TransactionList transactions={rows} />}
      </QueryView>
      <Pager pages={list} />
    </>
  );
}

/** Shown in both views. */
function Totals({ filter }: { filter: Filter }) {
  const { data, isError } = useInfiniteQuery(transactionsQuery(useUser().id, filter));
  return <PeriodTotals summary={data?.pages[0]?.summary} failed={isError} />;
}

function Toolbar() {
  const [{ from, to, view = 'list', key }, change] = useUrlSearch<SearchOf<typeof transactionsSearch>>();
  const period = usablePeriod({ from, to }, localDay(new Date()));
  const set = (next: Parameters<typeof change>[0]) => change(next, { resetScroll: false });
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
        {view === 'list' && <KeyField value={key} onChange={(chosen) => set({ key: chosen })} />}
        <PeriodFields period={{ from, to }} onChange={set} />
        <div className="sm:mt-6.5">
          <ExportMenu period={period} apiKey={view === 'list' ? key : undefined} />
        </div>
      </div>
    </div>
  );
}
