import { getCaptions, saveCaptions } from '@bakehouse/contract/captions';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { notify } from '../../../ui/notify.ts';
import type { CaptionChange } from './caption-texts.ts';

/** The captions with their commit. Never refetched, so that typing is not overwritten. */
export const captionsQuery = (id: string) =>
  endpointQuery(
    ['asset-captions', id],
    getCaptions,
    { params: { id } },
    { staleTime: Number.POSITIVE_INFINITY, gcTime: 0 },
  );

type NewCaptions = { changes: CaptionChange[]; parentCommit: string };

/** Errors are shown next to the text. */
export function useSaveCaptions(id: string) {
  return useMutation({
    mutationKey: ['asset'],
    meta: { inPlace: true },
    mutationFn: ({ changes, parentCommit }: NewCaptions) =>
      call(saveCaptions, { params: { id }, body: { captions: changes, parent_commit: parentCommit } }),
    onSuccess: (_, { changes }) => {
      notify.success(`${countOf(changes.length, 'caption')} saved`);
      refetchQueries(['asset']);
    },
  });
}
