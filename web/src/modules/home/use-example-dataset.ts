import exampleUrl from '../../../../examples/bakehouse-facts.csv?url';
import { fetchAnswer } from '../../lib/api/fetch-answer.ts';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { refreshSession } from '../accounts/api.ts';
import { announceUpload, uploadFiles, useCreateDataset } from '../assets/api.ts';

const example = { title: 'Bakehouse facts', category: 'Artificial intelligence', tags: ['example'] };

/** Gives the user a small dataset that a model learns in minutes; resolves with its id. */
export function useExampleDataset() {
  const { mutateAsync: create } = useCreateDataset();
  const keys = useIdempotencyKeys();
  return useMutation({
    mutationFn: async (userId: string) => {
      const data = await fetchAnswer(
        exampleUrl,
        { method: 'GET' },
        { read: (response) => response.blob(), operation: 'fetch the example' },
      );
      const file = new File([data], 'bakehouse-facts.csv', { type: 'text/csv' });
      const id = await create({ ...example, userId, idempotencyKey: keys.keyFor(example) });
      const outcome = await uploadFiles(id, [file]);
      const [failed] = outcome.failed;
      if (failed) throw new Error(failed.error ?? 'Failed to upload file.');
      announceUpload(outcome);
      return id;
    },
    onSuccess: () => {
      keys.renew();
      void refreshSession().catch(() => undefined);
    },
  });
}
