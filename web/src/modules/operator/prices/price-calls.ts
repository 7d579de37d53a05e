import type { CallOf } from '@bakehouse/contract/endpoint';
import { changePrice, listPriceChanges } from '@bakehouse/contract/prices';
import { call } from '../../../lib/api/api-client.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { pricesQuery } from '../../billing/credit-queries.ts';

export const priceChangesQuery = endpointPages(
  [...pricesQuery.queryKey, 'changes'],
  listPriceChanges,
  {},
  { rows: 'changes', id: 'id', staleTime: 0 },
);

/** Changes a price and refreshes the list and its history. */
export function useChangePrice() {
  return useMutation({
    mutationFn: (body: CallOf<typeof changePrice>['body']) => call(changePrice, { body }),
    onSuccess: () => refetchQueries(pricesQuery.queryKey),
  });
}
