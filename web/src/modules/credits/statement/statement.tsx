import type { Currency } from '@bakehouse/contract/money';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { currencyChoice, showUnrounded } from '../../../lib/format/currency.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { countOf } from '../../../lib/format/words.ts';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { Figure } from '../../../ui/figure.tsx';
import { Pager } from '../../../ui/paged-list.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { useUser } from '../../accounts/session.ts';
import {
  GenerationThumbnail,
  shortPrompt,
  useGenerationThumbnail,
} from '../../generations/face/generation-thumbnail.tsx';
import { transactionsQuery, useBalance } from '../credit-queries.ts';
import type { Period } from './period.ts';
import { SignedAmount } from './signed-amount.tsx';
import { LOADING_FAILED, LoadingTransactions } from './transaction-list.tsx';
import {
  type StatementRow,
  type Transaction,
  totalsOf,
  withRunningBalance,
  workOf,
} from './transaction-rows.ts';

const aboutColumns: Column<StatementRow>[] = [
  {
    id: 'date',
    header: 'Date',
    width: '11rem',
    hideBelow: 'md',
    cell: ({ transaction }) => (
      <span className="whitespace-nowrap text-muted tabular-nums">
        {formatDateTime(new Date(transaction.transaction_date))}
      </span>
    ),
  },
  {
    id: 'description',
    header: 'Description',
    cell: ({ transaction }) => (
      <>
        <About transaction={transaction} />
        <span className="text-muted text-xs tabular-nums md:hidden">
          {formatDateTime(new Date(transaction.transaction_date))}
        </span>
      </>
    ),
  },
  {
    id: 'hash',
    header: 'Hash',
    width: '9rem',
    hideBelow: 'lg',
    cell: ({ transaction }) =>
      transaction.transaction_hash ? (
        <span className="flex items-center gap-1">
          <span className="font-mono text-muted text-xs">{transaction.transaction_hash.slice(0, 10)}</span>
          <CopyButton text={transaction.transaction_hash} label="Copy the hash" />
        </span>
      ) : (
        <span className="text-faint text-xs">Not sealed yet</span>
      ),
  },
];

const amountColumns = (currency: Currency): Column<StatementRow>[] => [
  {
    id: 'amount',
    header: 'Amount',
    numeric: true,
    cell: ({ transaction, balanceAfter }) => (
      <>
        <SignedAmount transaction={transaction} />
        <span className="block whitespace-nowrap text-muted text-xs sm:hidden">
          Balance {showUnrounded(balanceAfter, currency)}
        </span>
      </>
    ),
  },
  {
    id: 'balance',
    header: 'Balance',
    numeric: true,
    hideBelow: 'sm',
    cell: ({ balanceAfter }) => (
      <span className="whitespace-nowrap">{showUnrounded(balanceAfter, currency)}</span>
    ),
  },
];

type Props = {
  rows: readonly StatementRow[];
  /** Older transactions are not loaded yet. */
  hasMore: boolean;
  /** The sendable part of the current balance. */
  sendable: string | undefined;
};

/** Totals of the loaded rows, and the sendable part of the current balance. */
function StatementSummary({ rows, hasMore, sendable }: Props) {
  const currency = currencyChoice.use();
  const { incoming, outgoing, net } = totalsOf(rows);
  const totals = [
    { label: 'In', text: `+${showUnrounded(incoming, currency)}` },
    { label: 'Out', text: `−${showUnrounded(outgoing, currency)}` },
    { label: 'Net', text: showUnrounded(net, currency) },
    ...(sendable === undefined ? [] : [{ label: 'Can be sent', text: showUnrounded(sendable, currency) }]),
  ];
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-8 gap-y-3 border-line border-b px-5 py-3.5">
      <dl className="flex flex-wrap gap-x-8 gap-y-3">
        {totals.map(({ label, text }) => (
          <Figure key={label} label={label}>
            {text}
          </Figure>
        ))}
      </dl>
      <span className="text-[0.8125rem] text-muted tabular-nums">
        {hasMore
          ? `Totals of the ${countOf(rows.length, 'newest transaction')}`
          : `Totals of ${countOf(rows.length, 'transaction')}`}
      </span>
    </div>
  );
}

/** Settled movements with every decimal, the balance after each, and its hash in the chain. */
export function StatementTable({ rows }: { rows: readonly StatementRow[] }) {
  const currency = currencyChoice.use();
  return (
    <>
      <DataTable
        label="Statement"
        rows={rows}
        rowKey={({ transaction }) => transaction.transaction_id}
        columns={[...aboutColumns, ...amountColumns(currency)]}
      />
      <p className="border-line border-t px-5 py-3 text-[0.8125rem] text-muted">
        Each hash covers its transaction and the previous hash, so past transactions cannot be changed. New
        ones are sealed within a minute.
      </p>
    </>
  );
}

/** The description, with the thumbnail and name of the work. */
function About({ transaction }: { transaction: Transaction }) {
  const { description, asset_name: name, generation_id: generationId } = transaction;
  const generation = useGenerationThumbnail(useUser().id, generationId ?? null);
  const work = generation === null ? null : workOf(transaction);
  const ofName = name && !description.includes(name) ? name : null;
  const about = generation ? shortPrompt(generation.prompt) : generation === null ? 'Deleted' : ofName;
  return (
    <span className="flex items-center gap-3">
      {generationId && <GenerationThumbnail generation={generation} />}
      <span className="min-w-0">
        <span className="block [overflow-wrap:anywhere]">
          {work ? (
            <Link {...work} className="hover:underline">
              {description}
            </Link>
          ) : (
            description
          )}
        </span>
        {about && <span className="block text-muted text-xs [overflow-wrap:anywhere]">{about}</span>}
      </span>
    </span>
  );
}

type StatementProps = {
  period: Period;
  /** Shown instead of the table if there are no movements. */
  nothing: ReactNode;
};

/** Settled movements with the balance after each, computed back from the balance at the end of the period. */
export function Statement({ period: { from, to }, nothing }: StatementProps) {
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
