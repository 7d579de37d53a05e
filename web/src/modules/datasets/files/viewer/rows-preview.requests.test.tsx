import { type Asset, previewFile } from '@bakehouse/contract/assets';
import { describeColumns, searchRows } from '@bakehouse/contract/data-files';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { previewQuery } from '../../asset-calls.ts';
import type { RowsLocation } from './rows-location.ts';
import { RowsPreview } from './rows-preview.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

afterEach(cleanup);

const lengths = { min: 3, max: 10, mean: 6.5, median: 6, std: 3.5 };
const question = {
  ...{ name: 'question', type: 'text', filled: 2, nulls: 1, distinct: 2, distinct_is_more: false },
  ...{ numbers: null, lengths, frequent: [] },
  histogram: [
    { from: 3, to: 6, count: 1 },
    { from: 7, to: 10, count: 1 },
  ],
};
const page = {
  ...{ columns: ['question'], column_count: 1, rows: [['Why?'], ['Who bakes?']], total_rows: 2 },
  ...{ broken: [], broken_count: 0, format: null, format_problem: null, conversations: [], whole_row: null },
};
const found = {
  ...{ columns: ['question'], column_count: 1, rows: [['Who bakes?']], at: [0] },
  ...{ rows_read: 4, is_whole: true, next_offset: null, format: null, conversations: [] },
};

const placed = vi.fn<(place: RowsLocation) => void>();

/** Keeps the place in state, as the page does in its URL. */
function Placed() {
  const [place, setPlace] = useState<RowsLocation>({});
  placed.mockImplementation(setPlace);
  const files = [{ path: 'd.csv', size_bytes: 10, sha256: '', uploaded_at: '' }];
  const asset = { dataset_id: 'set', revision_id: 'first', files, next_files_cursor: null } as Partial<Asset>;
  return <RowsPreview asset={asset as Asset} canChange={false} place={place} onPlace={placed} />;
}

test('clicking a histogram bar filters the rows until the filter is removed', async () => {
  vi.mocked(call).mockImplementation(async (endpoint: unknown) => {
    if (endpoint === searchRows) return found;
    if (endpoint === describeColumns) return { rows: 4, is_whole: true, columns: [question] };
    return new Promise(() => undefined);
  });
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  const file = { assetId: 'set', revisionId: 'first', path: 'd.csv' };
  client.setQueryData(previewQuery({ ...file, offset: 0 }).queryKey, page);
  render(
    <QueryClientProvider client={client}>
      <Placed />
    </QueryClientProvider>,
  );
  const bar = (text: string) => screen.findByRole('button', { name: `Show rows with ${text}` });
  await userEvent.click(await bar('7 to 10 characters: 1 row'));
  const filters = [{ column: 'question', of: 'length', min: 7, max: 10 }];
  expect(placed).toHaveBeenLastCalledWith({ filters });
  await screen.findByText('1 row found. All 4 rows were searched.');
  expect(vi.mocked(call).mock.calls.find(([endpoint]) => endpoint === searchRows)?.[1]).toMatchObject({
    query: { text: '', filters: JSON.stringify(filters), offset: 0 },
  });
  // Each column has at most one filter.
  await userEvent.click(await bar('3 to 6 characters: 1 row'));
  expect(placed).toHaveBeenLastCalledWith({ filters: [{ ...filters[0], min: 3, max: 6 }] });
  await userEvent.click(screen.getByRole('button', { name: 'Remove the filter question: 3 to 6 long' }));
  expect(placed).toHaveBeenLastCalledWith({ filters: undefined });
  expect(screen.getByText('Why?')).toBeTruthy();
});

test('shows why the server cannot read the file yet, and a retry shows the rows and their columns', async () => {
  const reason = 'The Python environment is still being prepared. Please try again in a few minutes.';
  let isReady = false;
  vi.mocked(call).mockImplementation(async (endpoint: unknown) => {
    if (endpoint !== previewFile && endpoint !== describeColumns) return new Promise(() => undefined);
    if (!isReady) throw new ApiError(reason, { status: 503, code: 'unavailable' });
    return endpoint === previewFile ? page : { rows: 2, is_whole: true, columns: [question] };
  });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <Placed />
    </QueryClientProvider>,
  );
  expect((await screen.findByRole('alert')).textContent).toContain(reason);
  isReady = true;
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('Who bakes?')).toBeTruthy();
  expect(await screen.findByRole('button', { name: 'Show rows with 3 to 6 characters: 1 row' })).toBeTruthy();
});
