import type { listPrices } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { BGL_PER_USD } from '@bakehouse/contract/money';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeftRight, Gift, UserCog } from 'lucide-react';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Money } from '../../ui/money.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/api.ts';
import { pricesQuery, useBalance } from './api.ts';
import { BalanceCard } from './balance-card.tsx';

type Price = ResponseOf<typeof listPrices>['prices'][number];

const units: Record<Price['unit'], string> = { hour: 'per hour', million_tokens: 'per million tokens' };

/** How credits come on a server without a payment provider, and what they buy. */
export function BuyCreditsPage() {
  const user = useUser();
  const balance = useBalance(user.id);
  return (
    <>
      <PageHeader
        title="Buy Credits"
        description={`Everything is paid from one balance of bagels (BGL). ${BGL_PER_USD} BGL are 1 US dollar.`}
      />
      <div className="grid grid-cols-1 gap-6 lg:grid-cols-[20rem_minmax(0,1fr)] lg:items-start">
        <BalanceCard query={balance} />
        <Card
          title="How to get credits"
          description="This server has no payment provider, so credits cannot be bought by card here."
        >
          <ul className="grid gap-5 sm:grid-cols-3">
            <li>
              <Gift aria-hidden className="size-5 text-accent-text" />
              <h3 className="mt-2 font-medium">Starting credits</h3>
              <p className="mt-0.5 text-[0.8125rem] text-muted leading-5">
                Every new account starts with some. Yours are in your transaction history.
              </p>
            </li>
            <li>
              <UserCog aria-hidden className="size-5 text-accent-text" />
              <h3 className="mt-2 font-medium">A grant</h3>
              <p className="mt-0.5 text-[0.8125rem] text-muted leading-5">
                The operator of this server can give you more. Tell them your username.
              </p>
            </li>
            <li>
              <ArrowLeftRight aria-hidden className="size-5 text-accent-text" />
              <h3 className="mt-2 font-medium">A transfer</h3>
              <p className="mt-0.5 text-[0.8125rem] text-muted leading-5">
                Any other user can send you credits by your username, for now through the API.
              </p>
            </li>
          </ul>
          <p className="mt-5 flex flex-wrap items-center gap-x-2 gap-y-1 rounded-lg bg-subtle px-3.5 py-2">
            <span className="text-muted">Your username</span>
            <span className="font-medium">{user.username}</span>
            <CopyButton text={user.username} label="Copy the username" />
          </p>
        </Card>
        <div className="lg:col-span-2">
          <PriceList />
        </div>
      </div>
    </>
  );
}

function PriceList() {
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
