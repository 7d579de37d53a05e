import { useNavigate } from '@tanstack/react-router';
import exampleUrl from '../../../../examples/bakehouse-facts.csv?url';
import { useIdempotencyKeys } from '../../lib/api/idempotency-key.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { refreshSession } from '../accounts/api.ts';
import { uploadFiles, useCreateDataset } from '../assets/api.ts';

const example = { title: 'Bakehouse facts', category: 'Artificial intelligence', tags: ['example'] };

/** Gives the user a small dataset that a model learns in minutes, and shows it. */
export function useExampleDataset() {
  const { mutateAsync: create } = useCreateDataset();
  const navigate = useNavigate();
  const keys = useIdempotencyKeys();
  return useMutation({
    mutationFn: async (userId: string) => {
      const response = await fetch(exampleUrl);
      if (!response.ok) throw new Error('The example could not be fetched. Please try again');
      const file = new File([await response.blob()], 'bakehouse-facts.csv', { type: 'text/csv' });
      const id = await create({ ...example, userId, idempotencyKey: keys.keyFor(example) });
      const { failed } = await uploadFiles(id, [file]);
      if (failed[0]) throw new Error(failed[0].error ?? 'Failed to upload file.');
      return id;
    },
    onSuccess: (id) => {
      keys.renew();
      void refreshSession().catch(() => undefined);
      void navigate({ to: '/dataset/$id/description', params: { id } });
    },
  });
}
