import * as contract from '@bakehouse/contract/share-links';
import type { QueryKey } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';

/** What of the user's is shared by a link. */
export type Shareable = { kind: contract.SharedKind; id: string };

/** The first part of the keys of what is read of such a thing. */
const families: Record<contract.SharedKind, string> = {
  generation: 'generation',
  run: 'run',
  model: 'asset',
};

/** The link by which the user shares something. */
export function shareQuery({ kind, id }: Shareable) {
  const key: QueryKey = [families[kind], 'share', id];
  switch (kind) {
    case 'generation':
      return endpointQuery(key, contract.getGenerationShare, { params: { id } });
    case 'run':
      return endpointQuery(key, contract.getRunShare, { params: { runId: id } });
    case 'model':
      return endpointQuery(key, contract.getModelShare, { params: { id } });
  }
}

function makeLink({ kind, id }: Shareable) {
  switch (kind) {
    case 'generation':
      return call(contract.shareGeneration, { params: { id } });
    case 'run':
      return call(contract.shareRun, { params: { runId: id } });
    case 'model':
      return call(contract.shareModel, { params: { id } });
  }
}

function revokeLink({ kind, id }: Shareable) {
  switch (kind) {
    case 'generation':
      return call(contract.unshareGeneration, { params: { id } });
    case 'run':
      return call(contract.unshareRun, { params: { runId: id } });
    case 'model':
      return call(contract.unshareModel, { params: { id } });
  }
}

/** Makes the link. */
export function useShareLink(of: Shareable) {
  return useMutation({
    mutationFn: () => makeLink(of),
    onSuccess: (shared) => queryClient.setQueryData(shareQuery(of).queryKey, shared),
  });
}

/** Revokes the link. */
export function useStopSharing(of: Shareable) {
  return useMutation({
    mutationFn: () => revokeLink(of),
    onSuccess: () => queryClient.setQueryData(shareQuery(of).queryKey, { share: null }),
  });
}
