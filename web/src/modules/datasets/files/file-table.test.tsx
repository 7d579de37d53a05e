import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { queryClient } from '../../../lib/api/query-client.ts';
import { FileTable } from './file-table.tsx';

test.each([
  ['MODEL', 'model'],
  ['RAW', 'dataset'],
])('deleting a file of a %s warns that this does not free space yet', async (dataset_type, noun) => {
  const path = 'vae/config.json';
  const file = { path, sha256: '0'.repeat(64), size_bytes: 3, uploaded_at: '2026-11-21T08:00:00Z' };
  const asset = { dataset_id: noun, dataset_type, revision_id: 'r1', files: [file], file_count: 1 };
  render(
    <QueryClientProvider client={queryClient}>
      <FileTable asset={asset as never} canChange onDeleted={() => undefined} />
    </QueryClientProvider>,
  );
  fireEvent.click(screen.getByRole('button', { name: `Actions for ${path}` }));
  fireEvent.click(await screen.findByRole('menuitem', { name: 'Delete' }));
  const sentence = `Earlier versions of a file count towards your storage until the ${noun} is deleted.`;
  expect((await screen.findByRole('alertdialog')).textContent).toContain(sentence);
});
