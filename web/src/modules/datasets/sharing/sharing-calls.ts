import { listShares, type Shares, shareAsset, unshareAsset } from '@bakehouse/contract/asset-shares';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

/** Users that the user shares a dataset or model with. */
export const sharesQuery = (id: string) =>
  endpointQuery(['asset', 'shares', id], listShares, { params: { id } });

/** Shares an asset with a user by name. */
export function useShare(id: string) {
  return useMutation({
    mutationKey: ['asset'],
    meta: { inPlace: true },
    mutationFn: (username: string) => call(shareAsset, { params: { id }, body: { username } }),
    onSuccess: (shares: Shares) => {
      queryClient.setQueryData(sharesQuery(id).queryKey, shares);
      refetchQueries(['asset', 'one', id], ['asset', 'list']);
    },
  });
}

/** Stops sharing with a user; with the user's own name, leaves a shared asset. */
export function useUnshare(id: string) {
  return useMutation({
    mutationKey: ['asset'],
    mutationFn: (username: string) => call(unshareAsset, { params: { id, username } }),
    onSuccess: () =>
      refetchQueries(['asset', 'shares', id], ['asset', 'one', id], ['asset', 'list'], ['asset', 'search']),
  });
}
