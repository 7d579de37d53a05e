import type { PriceChange } from '@bakehouse/contract/prices';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useState } from 'react';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Money } from '../../../ui/money.tsx';
import { OperatorOnly } from '../../../ui/operator-only.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { PagedTable } from '../../../ui/paged-list.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { pricesQuery } from '../credit-queries.ts';
import { ChangePriceDialog } from './change-price-dialog.tsx';
import { type Price, priceChangesQuery, priceUnits } from './price-calls.ts';
import { priceColumns } from './price-columns.tsx';

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

/** All prices; operators can change them here. */
export function PricesPage() {
  const { is_operator } = useUser();
  return (
    <OperatorOnly isOperator={is_operator} title="Prices" what="the prices and their history">
      <Prices />
    </OperatorOnly>
  );
}

function Prices() {
  const [chosenId, setChosenId] = useState<string | null>(null);
  const list = useQuery({ ...pricesQuery, staleTime: 0 });
  const chosen = list.data?.prices.find(({ id }) => id === chosenId);
  const actions: Column<Price> = {
    id: 'actions',
    header: <span className="sr-only">Actions</span>,
    numeric: true,
    cell: ({ id, label }) => (
      <Button size="sm" aria-label={`Change the price of ${label}`} onClick={() => setChosenId(id)}>
        Change
      </Button>
    ),
  };
  return (
    <>
      <PageHeader title="Prices" description="New prices apply to new work only." />
      <div className="grid gap-6">
        <Card title="Price list" flush>
          <QueryView
            query={list}
            failed="The prices could not be loaded"
            pending={
              <LoadingRegion className="grid gap-4 px-5 pb-5">
                {Array.from({ length: 11 }, (_, index) => (
                  <Skeleton key={index} className="h-6" />
                ))}
              </LoadingRegion>
            }
            flush
          >
            {({ prices }) => (
              <DataTable
                label="Price list"
                rows={prices}
                rowKey={({ id }) => id}
                columns={[...priceColumns, actions]}
              />
            )}
          </QueryView>
        </Card>
        <PriceHistory />
      </div>
      {chosen && <ChangePriceDialog key={chosen.id} price={chosen} onClose={() => setChosenId(null)} />}
    </>
  );
}

/** All price changes, newest first. */
function PriceHistory() {
  const list = useInfiniteQuery(priceChangesQuery);
  return (
    <PagedTable
      label="History"
      title="History"
      query={list}
      rows={(page) => page.changes}
      rowKey={({ id }) => id}
      columns={columns}
      skeletonRows={2}
      failed="The history could not be loaded"
      empty={
        <EmptyState
          icon={<History aria-hidden />}
          title="No changes yet"
          description="All prices are still the defaults."
        />
      }
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
