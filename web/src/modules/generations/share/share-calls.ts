import {
  getGenerationShare,
  getSharedGeneration,
  shareGeneration,
  unshareGeneration,
} from '@bakehouse/contract/generation-shares';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

/** The link by which the user shares a generation. */
export const shareQuery = (id: string) =>
  endpointQuery(['generation', 'share', id], getGenerationShare, { params: { id } });

/** What a link shows, to whoever has it. */
export const sharedQuery = (token: string) =>
  endpointQuery(['shared-generation', token], getSharedGeneration, { params: { token } });

/** Makes the link. */
export function useShareLink(id: string) {
  return useMutation({
    mutationFn: () => call(shareGeneration, { params: { id } }),
    onSuccess: (shared) => queryClient.setQueryData(shareQuery(id).queryKey, shared),
  });
}

/** Revokes the link. */
export function useStopSharing(id: string) {
  return useMutation({
    mutationFn: () => call(unshareGeneration, { params: { id } }),
    onSuccess: () => queryClient.setQueryData(shareQuery(id).queryKey, { share: null }),
  });
}
