import type { PriceChange } from '@bakehouse/contract/prices';
import { useInfiniteQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { Money } from '../../../ui/money.tsx';
import { ResourceTable } from '../../../ui/resource/resource-table.tsx';
import { priceUnits } from '../../billing/price-columns.tsx';
import { priceChangesQuery } from './price-calls.ts';

/** All price changes, newest first. */
export function PriceHistory() {
  return (
    <ResourceTable
      label="History"
      title="History"
      query={useInfiniteQuery(priceChangesQuery)}
      rows={(page) => page.changes}
      rowKey={({ id }) => id}
      columns={columns}
      skeletonRows={2}
      failed="The history could not be loaded"
      empty={{
        icon: <History aria-hidden />,
        title: 'No changes yet',
        description: 'All prices are still the defaults.',
      }}
    />
  );
}

/** When a change starts, and its state. */
function From(change: Pick<PriceChange, 'withdrawn_at' | 'valid_from'>) {
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      <time dateTime={change.valid_from}>{formatDateTime(new Date(change.valid_from))}</time>
      <State {...change} />
    </span>
  );
}

function State({ withdrawn_at, valid_from }: Pick<PriceChange, 'withdrawn_at' | 'valid_from'>) {
  if (withdrawn_at) return <Badge>Withdrawn</Badge>;
  return new Date(valid_from) > new Date() ? <Badge tone="accent">Upcoming</Badge> : null;
}

const columns: Column<PriceChange>[] = [
  {
    id: 'label',
    header: 'Item',
    cell: ({ label, unit, changed_by, created_at, ...change }) => (
      <>
        <span className="block">{label}</span>
        <span className="block text-muted text-xs">
          {unit && `${priceUnits[unit]} · `}
          {changed_by ?? 'Deleted user'}, {formatDateTime(new Date(created_at))}
        </span>
        <span className="mt-1 block text-xs sm:hidden">
          From <From {...change} />
        </span>
      </>
    ),
  },
  {
    id: 'from',
    header: 'From',
    hideBelow: 'sm',
    cell: (change) => <From {...change} />,
  },
  {
    id: 'price',
    header: 'Price',
    numeric: true,
    cell: ({ previous, unit_price }) => (
      <>
        <Money unrounded bgl={unit_price} className="font-medium" />
        <span className="block text-muted text-xs">
          before <Money unrounded bgl={previous} />
        </span>
      </>
    ),
  },
];
