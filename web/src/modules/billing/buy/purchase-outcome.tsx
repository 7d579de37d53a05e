import type { Purchase } from '@bakehouse/contract/purchases';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Callout } from '../../../ui/callout.tsx';
import { Money } from '../../../ui/money.tsx';
import { useUser } from '../../accounts/session.ts';
import { purchasesQuery } from './purchase-calls.ts';

const POLL_MS = 3_000;

type Props = { purchaseId: string; className: string };

/** The result of the purchase that the user returns from. */
export function PurchaseOutcome({ purchaseId, className }: Props) {
  const user = useUser();
  const find = (pages: { purchases: Purchase[] }[] = []) =>
    pages.flatMap(({ purchases }) => purchases).find(({ id }) => id === purchaseId);
  const { data } = useInfiniteQuery({
    ...purchasesQuery(user.id),
    refetchInterval: ({ state }) => (find(state.data?.pages)?.status === 'open' ? POLL_MS : false),
  });
  const purchase = find(data?.pages);
  if (!purchase) return null;
  return (
    <div role="status" className={className}>
      {purchase.status === 'paid' && (
        <Callout title="Payment received">
          <Money bgl={purchase.amount} className="font-medium" /> was added to your balance.
        </Callout>
      )}
      {purchase.status === 'open' && (
        <Callout title="Waiting for your payment to be confirmed">
          Your credits are added once it is confirmed.
        </Callout>
      )}
      {purchase.status === 'failed' && (
        <Callout tone="warn" title="The payment failed">
          Nothing was added, and nothing was charged. You can try again below.
        </Callout>
      )}
      {purchase.status === 'refused' && (
        <Callout tone="warn" title="Your payment could not be credited">
          Your payment does not match this purchase. The operators of this server have been notified.
        </Callout>
      )}
      {purchase.status === 'expired' && (
        <Callout tone="warn" title="The payment was not completed">
          Nothing was charged. You can start again below.
        </Callout>
      )}
    </div>
  );
}
