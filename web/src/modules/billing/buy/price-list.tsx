import { useQuery } from '@tanstack/react-query';
import { Card } from '../../../ui/card.tsx';
import { DataTable } from '../../../ui/data-table.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { pricesQuery } from '../credit-queries.ts';
import { type Price, priceColumns } from '../price-columns.tsx';

/** Groups of prices, by the beginning of their ids. The last one has all others. */
const groups = [
  { title: 'Training', ids: /^training/ },
  { title: 'Pictures', ids: /^(image|pictures|edits)/ },
  { title: 'Videos', ids: /^videos/ },
  { title: 'Chat and API', ids: /^/ },
] as const;

/** All prices in collapsed groups. */
export function PriceList() {
  return (
    <Card
      title="Prices"
      description="Time is charged by the second, tokens individually. Failed work is not charged."
    >
      <QueryView
        query={useQuery(pricesQuery)}
        failed="The prices could not be loaded"
        pending={
          <LoadingRegion>
            <Skeleton className="h-57 rounded-xl" />
          </LoadingRegion>
        }
      >
        {({ prices }) => (
          <div className="grid gap-3">
            {groups.map(({ title }) => (
              <Disclosure key={title} title={title}>
                <DataTable
                  label={`Prices: ${title}`}
                  rows={prices.filter((price) => groupOf(price) === title)}
                  rowKey={({ id }) => id}
                  columns={priceColumns}
                />
              </Disclosure>
            ))}
          </div>
        )}
      </QueryView>
    </Card>
  );
}

function groupOf({ id }: Price): string | undefined {
  return groups.find(({ ids }) => ids.test(id))?.title;
}
