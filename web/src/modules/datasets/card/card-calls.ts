import { getCard, saveCard } from '@bakehouse/contract/asset-commits';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { notify } from '../../../ui/notify.ts';

/** The card's source with its commit. Never refetched, so that typing is not overwritten. */
export const cardQuery = (id: string) =>
  endpointQuery(
    ['asset-card', id],
    getCard,
    { params: { id } },
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
  );

export type NewCard = { content: string; message: string; parentCommit: string };

/** Errors are shown next to the text. */
export function useSaveCard(id: string) {
  return useMutation({
    mutationKey: ['asset'],
    meta: { inPlace: true },
    mutationFn: ({ content, message, parentCommit }: NewCard) =>
      call(saveCard, { params: { id }, body: { content, message, parent_commit: parentCommit } }),
    onSuccess: () => {
      notify.success('The card was saved');
      refetchQueries(['asset']);
    },
  });
}
