import { BGL_PER_USD, parseBgl } from '@bakehouse/contract/money';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useSheets } from '../../../lib/sheet.ts';
import { Button } from '../../../ui/button.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { BalanceCard } from '../balance-card.tsx';
import { useBalance } from '../credit-queries.ts';
import { CheckoutCard } from './checkout-card.tsx';
import { CreditSources } from './credit-sources.tsx';
import { PriceList } from './price-list.tsx';
import { purchasesQuery } from './purchase-calls.ts';
import { PurchaseList } from './purchase-list.tsx';
import { PurchaseOutcome } from './purchase-outcome.tsx';
import { RedeemCard } from './redeem-card.tsx';

/** How to get credits on this server, purchases, and prices. */
export function BuyCreditsPage() {
  const user = useUser();
  const balance = useBalance(user.id);
  const { purchase } = useSearch({ from: '/app/buy-bagels' });
  const sales = useInfiniteQuery(purchasesQuery(user.id));
  const canBuy = sales.data?.pages[0]?.can_buy !== false;
  const canSend = parseBgl(balance.data?.sendable ?? '0') > 0n;
  const purchases = sales.data?.pages.flatMap((page) => page.purchases) ?? [];
  return (
    <>
      <PageHeader
        title="Buy Credits"
        description={`Everything is paid from one balance. Credits are counted in bagels (BGL): ${BGL_PER_USD} BGL equal 1 US dollar.`}
      />
      <div className="grid grid-cols-1 gap-6 lg:grid-cols-[20rem_minmax(0,1fr)] lg:items-start">
        {purchase && <PurchaseOutcome purchaseId={purchase} className="lg:col-span-2" />}
        <BalanceCard query={balance} actions={canSend && <SendButton />} />
        <div className="grid gap-6">
          <QueryView
            query={sales}
            failed="The ways to buy credits could not be loaded"
            pending={
              <LoadingRegion>
                <Skeleton className="h-108 rounded-xl sm:h-66" />
              </LoadingRegion>
            }
          >
            {() => (canBuy ? <CheckoutCard /> : <CreditSources />)}
          </QueryView>
          <RedeemCard />
        </div>
        {purchases.length > 0 && (
          <div className="lg:col-span-2">
            <PurchaseList purchases={purchases} pages={sales} />
          </div>
        )}
        <div className="lg:col-span-2">
          <PriceList />
        </div>
      </div>
    </>
  );
}

function SendButton() {
  const sheets = useSheets();
  return (
    <Button size="sm" onClick={() => sheets.open('send-credits')}>
      Send
    </Button>
  );
}
