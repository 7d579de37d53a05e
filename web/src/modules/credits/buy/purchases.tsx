import { displayAmount, parseBgl } from '@bakehouse/contract/money';
import type { Purchase } from '@bakehouse/contract/purchases';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { formatClock, formatDay } from '../../../lib/format/format-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { Money } from '../../../ui/money.tsx';
import { Pager, type Pages } from '../../../ui/paged-list.tsx';
import { useUser } from '../../accounts/session.ts';
import { purchasesQuery } from './purchase-calls.ts';

const usd = (bgl: string) => displayAmount(parseBgl(bgl), 'USD');

const states = {
  open: { tone: 'neutral', label: 'Not paid yet' },
  paid: { tone: 'good', label: 'Paid' },
  failed: { tone: 'bad', label: 'Failed' },
  expired: { tone: 'neutral', label: 'Not completed' },
  refused: { tone: 'bad', label: 'Under review' },
} as const;

const columns: Column<Purchase>[] = [
  {
    id: 'date',
    header: 'Date',
    width: '6.375rem',
    cell: ({ created_at }) => {
      const at = new Date(created_at);
      return (
        <time dateTime={created_at} className="whitespace-nowrap text-[0.8125rem]">
          {formatDay(at)}
          <span className="block text-muted text-xs">{formatClock(at)}</span>
        </time>
      );
    },
  },
  {
    id: 'status',
    header: 'Status',
    cell: (purchase) => (
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <State {...purchase} />
        {purchase.receipt_url && <Receipt url={purchase.receipt_url} />}
      </div>
    ),
  },
  {
    id: 'amount',
    header: 'Paid',
    numeric: true,
    cell: ({ amount }) => (
      <>
        <span className="font-medium">{usd(amount)}</span>
        <span className="block whitespace-nowrap text-muted text-xs">
          {displayAmount(parseBgl(amount), 'BGL')}
        </span>
      </>
    ),
  },
];

const POLL_MS = 3_000;

/** Purchases with their receipts. */
export function PurchaseList({ purchases, pages }: { purchases: readonly Purchase[]; pages: Pages }) {
  return (
    <Card title="Purchases" flush>
      <DataTable label="Purchases" rows={purchases} rowKey={({ id }) => id} columns={columns} />
      <Pager pages={pages} />
    </Card>
  );
}

function State({ status, amount, reversed }: Purchase) {
  if (reversed === amount) return <Badge>Refunded</Badge>;
  if (reversed !== '0') return <Badge>{usd(reversed)} refunded</Badge>;
  return <Badge tone={states[status].tone}>{states[status].label}</Badge>;
}

function Receipt({ url }: { url: string }) {
  return (
    <a href={url} target="_blank" rel="noreferrer" className="inline-flex items-center gap-1 hover:underline">
      Receipt
      <ExternalLink aria-hidden className="size-3.5 text-faint" />
      <span className="sr-only">(opens in a new tab)</span>
    </a>
  );
}

type Props = { purchaseId: string; className: string };

/** The result of the purchase that the user returns from. */
export function PurchaseOutcome({ purchaseId, className }: Props) {
  const user = useUser();
  const find = (pages: { purchases: Purchase[] }[] = []) =>
    pages.flatMap(({ purchases }) => purchases).find(({ id }) => id === purchaseId);
  const { data } = useInfiniteQuery({
    ...purchasesQuery(user.id),
    refetchInterval: ({ state }) => (find(state.data?.pages)?.status === 'open' ? POLL_MS : false),
  });
  const purchase = find(data?.pages);
  if (!purchase) return null;
  return (
    <div role="status" className={className}>
      {purchase.status === 'paid' && (
        <Callout title="Payment received">
          <Money bgl={purchase.amount} className="font-medium" /> was added to your balance.
        </Callout>
      )}
      {purchase.status === 'open' && (
        <Callout title="Waiting for your payment to be confirmed">
          Your credits are added once it is confirmed.
        </Callout>
      )}
      {purchase.status === 'failed' && (
        <Callout tone="warn" title="The payment failed">
          Nothing was added, and nothing was charged. You can try again below.
        </Callout>
      )}
      {purchase.status === 'refused' && (
        <Callout tone="warn" title="Your payment could not be credited">
          Your payment does not match this purchase. The operators of this server have been notified.
        </Callout>
      )}
      {purchase.status === 'expired' && (
        <Callout tone="warn" title="The payment was not completed">
          Nothing was charged. You can start again below.
        </Callout>
      )}
    </div>
  );
}
