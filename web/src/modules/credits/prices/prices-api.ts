import type { CallOf } from '@bakehouse/contract/endpoint';
import { changePrice, listPriceChanges } from '@bakehouse/contract/prices';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { readAgain } from '../../../lib/mutation/read-again.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { pricesQuery } from '../api.ts';

export const priceChangesQuery = infiniteQueryOptions({
  queryKey: [...pricesQuery.queryKey, 'changes'],
  queryFn: ({ pageParam, signal }) =>
    call(
      listPriceChanges,
      { query: { cursor: pageParam ?? undefined } },
      { signal, operation: 'load the changes of prices' },
    ),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.next_cursor,
  staleTime: 0,
});

/** Changes a price, and reads the list and its history again. */
export function useChangePrice() {
  return useMutation({
    mutationFn: (body: CallOf<typeof changePrice>['body']) =>
      call(changePrice, { body }, { operation: 'change the price' }),
    onSuccess: () => readAgain(pricesQuery.queryKey),
  });
}
