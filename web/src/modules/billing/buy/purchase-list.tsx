import { displayAmount, parseBgl } from '@bakehouse/contract/money';
import type { Purchase } from '@bakehouse/contract/purchases';
import { ExternalLink } from 'lucide-react';
import { formatClock, formatDay } from '../../../lib/format/format-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/card.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { Pager, type Pages } from '../../../ui/pager.tsx';

const usd = (bgl: string) => displayAmount(parseBgl(bgl), 'USD');

/** Purchases with their receipts. */
export function PurchaseList({ purchases, pages }: { purchases: readonly Purchase[]; pages: Pages }) {
  return (
    <Card title="Purchases" flush>
      <DataTable label="Purchases" rows={purchases} rowKey={({ id }) => id} columns={columns} />
      <Pager pages={pages} />
    </Card>
  );
}

const states = {
  open: { tone: 'neutral', label: 'Not paid yet' },
  paid: { tone: 'good', label: 'Paid' },
  failed: { tone: 'bad', label: 'Failed' },
  expired: { tone: 'neutral', label: 'Not completed' },
  refused: { tone: 'bad', label: 'Under review' },
} as const;

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

const columns: Column<Purchase>[] = [
  {
    id: 'date',
    header: 'Date',
    width: '6.375rem',
    cell: ({ created_at }) => {
      const at = new Date(created_at);
      return (
        <time dateTime={created_at} className="whitespace-nowrap text-compact">
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
