import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { call } from '../../../lib/api-client.ts';
import { queryClient } from '../../../lib/query-client.ts';
import { AssetField } from './asset-field.tsx';

vi.mock('../../../lib/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../accounts/api.ts', () => ({ useUser: () => ({ id: 'u1' }) }));

const asset = (title: string) => ({
  dataset_id: title,
  title,
  file_count: 1,
  size_bytes: 1,
  is_starter: false,
});

it('finds on the server what a form does not hold, and says that there is more', async () => {
  let pages = 0;
  vi.mocked(call).mockImplementation(async (...args: unknown[]) => {
    const { search } = (args[1] as { query: { search: string } }).query;
    if (search === 'rare') return { datasets: [asset('A tag that is rare')], next_cursor: null };
    pages += 1;
    const datasets = Array.from({ length: 50 }, (_, index) => asset(`Recipes ${pages}-${index}`));
    return { datasets, next_cursor: 'more' };
  });
  render(
    <QueryClientProvider client={queryClient}>
      <AssetField types="RAW" label="Dataset" failed="Failed" value={null} onChange={() => {}} />
    </QueryClientProvider>,
  );
  const field = screen.getByRole('combobox', { name: 'Dataset' });
  await userEvent.click(field);
  expect(await screen.findByText(/There are more than these/)).toBeTruthy();
  await userEvent.type(field, 'rare');
  expect(await screen.findByRole('option', { name: /A tag that is rare/ })).toBeTruthy();
  expect(screen.queryByRole('option', { name: /Recipes/ })).toBeNull();
  // It did not read all of them.
  expect(pages).toBe(4);
});
