import { getGenerationShare, shareGeneration, unshareGeneration } from '@bakehouse/contract/share-links';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

/** Reads the share link of a generation. */
export function shareQuery(id: string) {
  return endpointQuery(['generation', 'share', id], getGenerationShare, { params: { id } });
}

export function useShareLink(id: string) {
  return useMutation({
    mutationFn: () => call(shareGeneration, { params: { id } }),
    onSuccess: (shared) => queryClient.setQueryData(shareQuery(id).queryKey, shared),
  });
}

export function useStopSharing(id: string) {
  return useMutation({
    mutationFn: () => call(unshareGeneration, { params: { id } }),
    onSuccess: () => queryClient.setQueryData(shareQuery(id).queryKey, { share: null }),
  });
}
