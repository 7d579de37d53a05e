import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { type Column, DataTable } from '../../../ui/data-table.tsx';
import { OperatorOnly } from '../../../ui/operator-only.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { pricesQuery } from '../credit-queries.ts';
import { ChangePriceDialog } from './change-price-dialog.tsx';
import { priceColumns } from './price-columns.tsx';
import { PriceHistory } from './price-history.tsx';
import type { Price } from './price-units.ts';

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
