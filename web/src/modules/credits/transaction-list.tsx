import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { ArrowDownLeft, ArrowUpRight, ChevronDown } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { cx } from '../../lib/cx.ts';
import { formatClock } from '../../lib/format-time.ts';
import { Button } from '../../ui/button.tsx';
import { usePlaceOnPage } from '../../ui/use-place-on-page.ts';
import { SignedAmount } from './signed-amount.tsx';
import { groupByDay, isIncoming, type Transaction } from './transaction-rows.ts';
import { UsageAnswers } from './usage-answers.tsx';

const HEIGHTS = { day: 37, transaction: 61 };

/** Grouped by day, newest first. Only the lines in sight exist, so ten thousand scroll as well as ten. */
export function TransactionList({ transactions }: { transactions: readonly Transaction[] }) {
  const rows = useMemo(() => groupByDay(transactions), [transactions]);
  const list = useRef<HTMLUListElement>(null);
  const top = usePlaceOnPage(list);
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
            {row.kind === 'day' ? (
              <h2 className="border-line border-b bg-subtle px-5 py-2 font-medium text-muted text-xs leading-5">
                {row.heading}
              </h2>
            ) : (
              <Line transaction={row.transaction} last={index === rows.length - 1} />
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Line({ transaction, last }: { transaction: Transaction; last: boolean }) {
  const incoming = isIncoming(transaction);
  const Arrow = incoming ? ArrowDownLeft : ArrowUpRight;
  const { usage_window_id: windowId } = transaction;
  const [open, setOpen] = useState(false);
  return (
    <>
      <div className={cx('flex items-center gap-3 border-line px-5 py-2.5 sm:gap-3.5', !last && 'border-b')}>
        <span
          className={cx(
            'flex size-8 shrink-0 items-center justify-center rounded-full',
            incoming ? 'bg-good-soft text-good' : 'bg-subtle text-muted',
          )}
        >
          <Arrow aria-hidden className="size-4" />
        </span>
        <div className="min-w-0 flex-1">
          <div className="truncate leading-5">{transaction.description}</div>
          <div className="truncate text-muted text-xs leading-5">
            {formatClock(new Date(transaction.transaction_date))}
            {transaction.asset_name && ` · ${transaction.asset_name}`}
          </div>
        </div>
        {windowId && (
          <Button aria-expanded={open} onClick={() => setOpen(!open)}>
            Answers
            <ChevronDown aria-hidden className={cx(open && 'rotate-180')} />
          </Button>
        )}
        <div className="text-right">
          <SignedAmount transaction={transaction} />
          {transaction.status === 'pending' && <div className="text-muted text-xs leading-5">Pending</div>}
        </div>
      </div>
      {windowId && open && <UsageAnswers windowId={windowId} />}
    </>
  );
}
