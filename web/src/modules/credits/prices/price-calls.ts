import type { listPrices } from '@bakehouse/contract/credits';
import type { CallOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { changePrice, listPriceChanges } from '@bakehouse/contract/prices';
import { call } from '../../../lib/api/api-client.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { pricesQuery } from '../credit-queries.ts';

export const priceChangesQuery = endpointPages(
  [...pricesQuery.queryKey, 'changes'],
  listPriceChanges,
  {},
  { rows: 'changes', id: 'id', staleTime: 0 },
);

/** Units after an amount. */
export const priceUnits: Record<Price['unit'], string> = {
  hour: 'per hour',
  million_tokens: 'per million tokens',
  thousand_expert_steps: 'per 1,000 expert steps',
  thousand_steps: 'per 1,000 steps',
  second: 'per second of video',
  image: 'per picture',
};

/** Changes a price and refreshes the list and its history. */
export function useChangePrice() {
  return useMutation({
    mutationFn: (body: CallOf<typeof changePrice>['body']) => call(changePrice, { body }),
    onSuccess: () => refetchQueries(pricesQuery.queryKey),
  });
}

export type Price = ResponseOf<typeof listPrices>['prices'][number];
