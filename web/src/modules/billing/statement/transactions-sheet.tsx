import { useInfiniteQuery } from '@tanstack/react-query';
import { Maximize2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { localDay } from '../../../lib/format/format-time.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Pager } from '../../../ui/pager.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { Sheet } from '../../../ui/sheet.tsx';
import { useUser } from '../../accounts/session.ts';
import { transactionsQuery } from '../credit-queries.ts';
import { ExportMenu } from './export/export-menu.tsx';
import { KeyField } from './key-field.tsx';
import { LOADING_FAILED, LoadingTransactions, NoTransactions } from './list-states.tsx';
import { useOpened } from './opened/use-opened.ts';
import { type Period, usablePeriod } from './period.ts';
import { PeriodFields } from './period-fields.tsx';
import { PeriodTotals } from './period-totals.tsx';
import { TransactionRow } from './transaction-row.tsx';
import { groupByDay, type Transaction } from './transaction-rows.ts';

type Props = { open: boolean; onClose: () => void };

/** Transaction History as a sheet: transactions by day, with totals. */
export function TransactionsSheet({ open, onClose }: Props) {
  const [chosen, setChosen] = useState<Period>({});
  const [key, setKey] = useState<string>();
  const period = usablePeriod(chosen, localDay(new Date()));
  return (
    <Sheet
      open={open}
      onClose={onClose}
      title="Transaction History"
      size="lg"
      subheader={
        <div className="flex flex-wrap items-start gap-3">
          <PeriodFields period={chosen} onChange={setChosen} />
          {open && <KeyField value={key} onChange={setKey} />}
        </div>
      }
      footer={
        <>
          <ExportMenu period={period} apiKey={key} />
          <ButtonLink to="/transactions" search={{ ...period, ...(key && { key }) }}>
            <Maximize2 aria-hidden />
            Open as page
          </ButtonLink>
        </>
      }
    >
      {/* Extends to the edges of the sheet. */}
      <div className="-mx-5 -my-5">
        {open && (
          <Transactions
            filter={{ ...period, key }}
            onShowAll={() => {
              setChosen({});
              setKey(undefined);
            }}
          />
        )}
      </div>
    </Sheet>
  );
}

type Filter = Period & { key: string | undefined };

function Transactions({ filter, onShowAll }: { filter: Filter; onShowAll: () => void }) {
  const list = useInfiniteQuery(transactionsQuery(useUser().id, filter));
  const transactions = useMemo(() => list.data?.pages.flatMap((page) => page.transactions), [list.data]);
  const summary = list.data?.pages[0]?.summary;
  return (
    <>
      <PeriodTotals summary={summary} failed={list.isError} narrow />
      <QueryView
        query={{ ...list, data: transactions }}
        failed={LOADING_FAILED}
        retryLabel="Try Again"
        pending={<LoadingTransactions />}
        isEmpty={(rows) => rows.length === 0 && !list.hasNextPage}
        empty={
          <NoTransactions
            filtered={(filter.from ?? filter.to ?? filter.key) !== undefined}
            showAll={<Button onClick={onShowAll}>Show all</Button>}
          />
        }
        flush
      >
        {(rows) => <Rows transactions={rows} />}
      </QueryView>
      <Pager pages={list} />
    </>
  );
}

function Rows({ transactions }: { transactions: readonly Transaction[] }) {
  const rows = useMemo(() => groupByDay(transactions), [transactions]);
  const opened = useOpened();
  return (
    <ul>
      {rows.map((row, index) => (
        <li
          key={`${row.kind}:${row.key}`}
          // Lets the browser skip the layout of off-screen rows.
          className="[contain-intrinsic-height:auto_3.8125rem] [content-visibility:auto]"
        >
          <TransactionRow row={row} last={index === rows.length - 1} opened={opened} />
        </li>
      ))}
    </ul>
  );
}
