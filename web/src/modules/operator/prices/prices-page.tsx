import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import type { Column } from '../../../ui/data-table.tsx';
import { asOnlyPage } from '../../../ui/resource/resource-list.tsx';
import { ResourcePage } from '../../../ui/resource/resource-page.tsx';
import { ResourceTable } from '../../../ui/resource/resource-table.tsx';
import { pricesQuery } from '../../billing/credit-queries.ts';
import type { Price } from '../../billing/price-columns.tsx';
import { priceColumns } from '../../billing/price-columns.tsx';
import { operatorPage } from '../operator-page.tsx';
import { ChangePriceDialog } from './change-price-dialog.tsx';
import { PriceHistory } from './price-history.tsx';

/** All prices; operators can change them here. */
export const PricesPage = operatorPage('Prices', 'the prices and their history', Prices);

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
    <ResourcePage title="Prices" description="New prices apply to new work only.">
      <div className="grid gap-6">
        <ResourceTable
          title="Price list"
          label="Price list"
          query={asOnlyPage(list)}
          rows={({ prices }) => prices}
          rowKey={({ id }) => id}
          columns={[...priceColumns, actions]}
          skeletonRows={11}
          failed="The prices could not be loaded"
        />
        <PriceHistory />
      </div>
      {chosen && <ChangePriceDialog key={chosen.id} price={chosen} onClose={() => setChosenId(null)} />}
    </ResourcePage>
  );
}
