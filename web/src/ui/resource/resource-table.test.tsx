import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { ResourceTable } from './resource-table.tsx';

type Page = { rows: { id: string; state: string }[] };

const query = {
  data: undefined as { pages: Page[] } | undefined,
  error: null,
  isError: false,
  isFetching: false,
  isFetchNextPageError: false,
  isFetchingNextPage: false,
  hasNextPage: false,
  errorUpdateCount: 0,
  dataUpdatedAt: 0,
  refetch: vi.fn<() => void>(),
  fetchNextPage: vi.fn<() => void>(),
};

function table(changed: Partial<typeof query>) {
  return (
    <ResourceTable
      label="Things"
      query={{ ...query, ...changed }}
      rows={(page) => page.rows}
      rowKey={({ id }) => id}
      columns={[{ id: 'state', header: 'State', cell: ({ state }) => state }]}
      failed="The things could not be loaded"
      empty={{ title: 'No things yet' }}
    />
  );
}

test('a list goes from loading to empty to filled, with more pages available', () => {
  const { rerender } = render(table({}));
  expect(screen.getByRole('status', { name: 'Loading' })).toBeTruthy();
  rerender(table({ data: { pages: [{ rows: [] }] } }));
  expect(screen.getByText('No things yet')).toBeTruthy();
  expect(screen.queryByRole('table')).toBeNull();
  rerender(table({ data: { pages: [{ rows: [{ id: 'a', state: 'Running' }] }] }, hasNextPage: true }));
  expect(screen.getByRole('cell', { name: 'Running' })).toBeTruthy();
  expect(screen.getByRole('table').getAttribute('aria-rowcount')).toBe('-1');
  expect(screen.getByRole('button', { name: 'Load more' })).toBeTruthy();
});

test('a list that fails to load shows the error', () => {
  render(table({ isError: true, error: null, errorUpdateCount: 1 }));
  expect(screen.getByText('The things could not be loaded')).toBeTruthy();
});

test('a row that moved to a later page between fetches is shown once, with its newest data', () => {
  const pages = [
    { rows: [{ id: 'a', state: 'Waiting' }] },
    {
      rows: [
        { id: 'a', state: 'Running' },
        { id: 'b', state: 'Waiting' },
      ],
    },
  ];
  render(table({ data: { pages } }));
  expect(screen.getAllByRole('cell').map((cell) => cell.textContent)).toEqual(['Running', 'Waiting']);
});
