import type { listPrices } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { useQuery } from '@tanstack/react-query';
import { Card } from '../../../ui/card.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { Money } from '../../../ui/money.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { pricesQuery } from '../api.ts';

type Price = ResponseOf<typeof listPrices>['prices'][number];

const units: Record<Price['unit'], string> = {
  hour: 'per hour',
  million_tokens: 'per million tokens',
  thousand_expert_steps: 'per 1,000 steps of an expert',
};

/** What everything costs. */
export function PriceList() {
  return (
    <Card
      title="Prices"
      description="Time is charged by the second, tokens one by one. Work that fails is not charged."
      flush
    >
      <QueryView
        query={useQuery(pricesQuery)}
        failed="The prices could not be loaded"
        pending={
          <LoadingRegion className="grid gap-4 px-5 pb-5">
            {Array.from({ length: 8 }, (_, index) => (
              <Skeleton key={index} className="h-5" />
            ))}
          </LoadingRegion>
        }
        flush
      >
        {({ prices }) => (
          <DataTable label="Prices" rows={prices} rowKey={(price) => price.id} columns={columns} />
        )}
      </QueryView>
    </Card>
  );
}

const columns: Column<Price>[] = [
  { id: 'label', header: 'What', cell: (price) => price.label },
  {
    id: 'unit',
    header: 'Unit',
    cell: (price) => <span className="text-muted">{units[price.unit]}</span>,
    hideBelow: 'sm',
  },
  {
    id: 'price',
    header: 'Price',
    numeric: true,
    cell: (price) => (
      <>
        <Money bgl={price.unit_price} className="font-medium" />
        <span className="block text-muted text-xs sm:hidden">{units[price.unit]}</span>
      </>
    ),
  },
];
