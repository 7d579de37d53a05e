import { listPurchases, startPurchase } from '@bakehouse/contract/purchases';
import { useEffect } from 'react';
import { call } from '../../../lib/api/api-client.ts';
import { pagedQuery } from '../../../lib/live/paged-query.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

/** What the user has bought page by page, newest first; follows the balance. */
export const purchasesQuery = (userId: string) =>
  pagedQuery({
    queryKey: ['transaction', 'purchases', userId],
    rows: 'purchases',
    id: 'id',
    read: (cursor, signal) =>
      call(
        listPurchases,
        { params: { userId }, query: { cursor } },
        { signal, operation: 'load your purchases' },
      ),
  });

/** Asks for the payment provider's page, and begins anew where Back from there brings this page out of memory. */
export function useCheckout(userId: string) {
  const checkout = useMutation({
    meta: { title: 'The payment could not be started' },
    mutationFn: ({ usd, idempotencyKey }: { usd: string; idempotencyKey: string }) =>
      call(
        startPurchase,
        { body: { user_id: userId, usd } },
        { idempotencyKey, operation: 'start the payment', timeoutMs: 60_000 },
      ),
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
