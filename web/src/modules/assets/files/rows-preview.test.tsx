import type { Asset } from '@bakehouse/contract/assets';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { previewQuery } from '../api.ts';
import { RowsPreview } from './rows-preview.tsx';

const asset: Asset = {
  dataset_id: 'set',
  dataset_type: 'RAW',
  title: 'Facts',
  category: '',
  details: '',
  tags: [],
  user_id: 'ada',
  owner_username: 'ada',
  is_starter: false,
  starter_task: null,
  is_published: false,
  price: '0',
  embedding_model: '',
  dimensions: 0,
  base_model_type: null,
  family: '',
  parent_dataset_id: null,
  file_count: 1,
  size_bytes: 10,
  revision_id: 'first',
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  files: [{ path: 'd.csv', size_bytes: 10, sha256: '', uploaded_at: '2026-01-01T00:00:00.000Z' }],
  next_files_cursor: null,
  card: null,
  lineage: null,
};

function show(answer: object) {
  const client = new QueryClient();
  const { queryKey } = previewQuery({ assetId: 'set', revisionId: 'first', path: 'd.csv', offset: 0 });
  client.setQueryData(queryKey, {
    columns: ['question', 'answer'],
    column_count: 2,
    rows: [],
    total_rows: 0,
    broken: [],
    broken_count: 0,
    format: null,
    conversations: [],
    ...answer,
  });
  render(
    <QueryClientProvider client={client}>
      <RowsPreview asset={asset} path={undefined} onPath={() => undefined} />
    </QueryClientProvider>,
  );
  return { client, queryKey };
}

test.each([
  [
    'no row can be read',
    { broken: [{ line: 2, reason: 'Quote is not closed' }], broken_count: 1 },
    'This file has no rows that can be read',
  ],
  ['there is a header only', {}, 'This file has only a header'],
  ['there is nothing', { columns: [], column_count: 0 }, 'This file is empty'],
])('says so where %s', (_case, answer, text) => {
  show(answer);
  expect(screen.getByText(text)).toBeTruthy();
  expect(screen.queryByRole('region', { name: 'Rows' })).toBeNull();
});

test('rows that were read stay in sight when reading them again fails', async () => {
  const { client, queryKey } = show({ rows: [['Who bakes?', 'Ada.']], total_rows: 1 });
  const failing = { queryKey, queryFn: () => Promise.reject(new Error('no answer')), retry: false };
  await act(() => client.fetchQuery({ ...failing, staleTime: 0 }).catch(() => undefined));
  expect(screen.getByText('Who bakes?')).toBeTruthy();
  expect(await screen.findByText(/Refreshing failed: no answer/)).toBeTruthy();
});

test('what is not shown of a file is said: columns beyond the first, broken rows beyond those named', () => {
  show({
    columns: ['a…', 'a…'],
    column_count: 80_000,
    rows: [['1', null]],
    total_rows: 1,
    broken: Array.from({ length: 100 }, (_, at) => ({ line: at + 2, reason: 'not JSON' })),
    broken_count: 1250,
  });
  expect(screen.getByText(/the first 2 of 80,000 columns/)).toBeTruthy();
  expect(screen.getByText('1,250 rows could not be read')).toBeTruthy();
  expect(screen.getByText('and 1,245 more')).toBeTruthy();
});

test('a conversation is drawn turn by turn, in the place of its cell', () => {
  show({
    columns: ['id', 'messages'],
    rows: [
      [1, '[{"role":"user"…'],
      [2, 'no list'],
    ],
    total_rows: 2,
    format: { format: 'messages', input_column: 'messages', output_column: '', system_column: null },
    conversations: [
      {
        turns: [
          { role: 'user', content: 'Who bakes?' },
          { role: 'assistant', content: 'Ada.' },
        ],
        turn_count: 5,
      },
      { turns: [], turn_count: 0 },
    ],
  });
  expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    'UserWho bakes?',
    'AssistantAda.',
    'and 3 more turns',
  ]);
  expect(screen.queryByText(/"role"/)).toBeNull();
  expect(screen.getByText('no list')).toBeTruthy();
});
