import exampleUrl from '../../../../examples/bakehouse-facts.csv?url';
import { fetchAnswer } from '../../lib/api/fetch-answer.ts';
import { notify } from '../../ui/notify.ts';
import { createDataset } from '../datasets/asset-calls.ts';
import { uploadFiles } from '../datasets/files/uploads/uploads.ts';

const example = { title: 'Bakehouse facts', category: 'Artificial intelligence', tags: ['example'] };

/** Creates a small dataset that trains in minutes. Resolves with its id. */
export async function makeExample(userId: string, idempotencyKey: string): Promise<string> {
  const data = await fetchAnswer(
    exampleUrl,
    { method: 'GET' },
    { read: (response) => response.blob(), operation: 'fetch the example' },
  );
  const file = new File([data], 'bakehouse-facts.csv', { type: 'text/csv' });
  const id = await createDataset({ ...example, userId, idempotencyKey });
  const outcome = await uploadFiles(id, [{ file, path: file.name }]);
  const [failed] = outcome.failed;
  if (failed) throw new Error(failed.error ?? 'Failed to upload file.');
  notify.success('Example added');
  return id;
}
