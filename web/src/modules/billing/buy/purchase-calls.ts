import { listPurchases, startPurchase } from '@bakehouse/contract/purchases';
import { useEffect } from 'react';
import { call } from '../../../lib/api/api-client.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

/** The user's purchases, newest first; refreshed with the balance. */
export const purchasesQuery = (userId: string) =>
  endpointPages(
    ['transaction', 'purchases', userId],
    listPurchases,
    { params: { userId } },
    { rows: 'purchases', id: 'id' },
  );

/** Requests the payment provider's page. Resets when Back restores this page from the browser's cache. */
export function useCheckout(userId: string) {
  const checkout = useMutation({
    meta: { title: 'The payment could not be started' },
    mutationFn: ({ usd, idempotencyKey }: { usd: string; idempotencyKey: string }) =>
      call(startPurchase, { body: { user_id: userId, usd } }, { idempotencyKey, timeoutMs: 60_000 }),
  });
  const { reset } = checkout;
  useEffect(() => {
    const comeBack = ({ persisted }: PageTransitionEvent) => {
      if (persisted) reset();
    };
    window.addEventListener('pageshow', comeBack);
    return () => window.removeEventListener('pageshow', comeBack);
  }, [reset]);
  return checkout;
}
