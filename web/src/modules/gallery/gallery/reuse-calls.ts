import { addTrainingPictures, linkZip } from '@bakehouse/contract/gallery';
import { call } from '../../../lib/api/api-client.ts';
import { downloadFrom } from '../../../lib/api/download.ts';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';

/** Downloads the pictures of these generations as one zip. */
export function useDownloadZip() {
  return useMutation({
    mutationFn: async (ids: readonly string[]) => {
      const { url } = await call(linkZip, { body: { ids: [...ids] } });
      downloadFrom(url, 'pictures.zip');
    },
    meta: { title: 'The pictures could not be downloaded' },
  });
}

type Wanted = {
  ids: readonly string[];
  /** The dataset to add them to, or null to create one. */
  datasetId: string | null;
  /** Name of the new dataset. */
  title: string;
};

/** Adds pictures with their prompts to a training dataset. */
export function useAddTrainingPictures() {
  const keys = useIdempotencyKeys('training-pictures');
  return useMutation({
    mutationFn: async ({ ids, datasetId, title }: Wanted) => {
      const body = { ids: [...ids], ...(datasetId === null ? { title } : { dataset_id: datasetId }) };
      const added = await call(addTrainingPictures, { body }, { idempotencyKey: keys.keyFor(body) });
      keys.renew(body);
      return added;
    },
    onSuccess: () => refetchQueries(['asset']),
    meta: { title: 'The pictures could not be added' },
  });
}
