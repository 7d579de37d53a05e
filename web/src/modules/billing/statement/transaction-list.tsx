import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { usePageOffset } from '../../../ui/use-page-offset.ts';
import { useOpened } from './opened/use-opened.ts';
import { TransactionRow } from './transaction-row.tsx';
import { groupByDay, type Transaction } from './transaction-rows.ts';

const HEIGHTS = { day: 37, transaction: 61, group: 61 };

/** Transactions grouped by day, newest first. Virtualized: only visible lines are rendered. */
export function TransactionList({ transactions }: { transactions: readonly Transaction[] }) {
  const rows = useMemo(() => groupByDay(transactions), [transactions]);
  const opened = useOpened();
  const list = useRef<HTMLUListElement>(null);
  const top = usePageOffset(list);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (index) => HEIGHTS[rows[index]?.kind ?? 'transaction'],
    getItemKey: (index) => `${rows[index]?.kind}:${rows[index]?.key}`,
    scrollMargin: top,
    overscan: 10,
  });
  return (
    <ul
      ref={list}
      className="relative overflow-hidden rounded-b-xl"
      style={{ height: virtualizer.getTotalSize() }}
    >
      {virtualizer.getVirtualItems().map(({ key, index, start }) => {
        const row = rows[index];
        if (!row) return null;
        return (
          <li
            key={key}
            data-index={index}
            ref={virtualizer.measureElement}
            className="absolute top-0 left-0 w-full"
            style={{ transform: `translateY(${start - top}px)` }}
          >
            <TransactionRow row={row} last={index === rows.length - 1} opened={opened} />
          </li>
        );
      })}
    </ul>
  );
}
