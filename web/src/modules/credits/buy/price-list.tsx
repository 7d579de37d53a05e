import { useQuery } from '@tanstack/react-query';
import { Card } from '../../../ui/card.tsx';
import { DataTable } from '../../../ui/data-table.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { pricesQuery } from '../credit-queries.ts';
import { priceColumns } from '../prices/price-columns.tsx';

/** All prices. */
export function PriceList() {
  return (
    <Card
      title="Prices"
      description="Time is charged by the second, tokens individually. Failed work is not charged."
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
          <DataTable label="Prices" rows={prices} rowKey={(price) => price.id} columns={priceColumns} />
        )}
      </QueryView>
    </Card>
  );
}
