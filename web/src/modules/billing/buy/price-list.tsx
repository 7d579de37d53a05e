import { useQuery } from '@tanstack/react-query';
import { asOnlyPage } from '../../../ui/resource/resource-list.tsx';
import { ResourceTable } from '../../../ui/resource/resource-table.tsx';
import { pricesQuery } from '../credit-queries.ts';
import { priceColumns } from '../price-columns.tsx';

/** All prices. */
export function PriceList() {
  return (
    <ResourceTable
      title="Prices"
      description="Time is charged by the second, tokens individually. Failed work is not charged."
      label="Prices"
      query={asOnlyPage(useQuery(pricesQuery))}
      rows={({ prices }) => prices}
      rowKey={(price) => price.id}
      columns={priceColumns}
      skeletonRows={8}
      failed="The prices could not be loaded"
    />
  );
}
