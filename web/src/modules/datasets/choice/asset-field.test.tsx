import type { AssetSummary } from '@bakehouse/contract/assets';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { AssetField } from './asset-field.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));

const asset = (title: string) => ({
  dataset_id: title,
  title,
  file_count: 1,
  size_bytes: 1,
  is_starter: false,
  starter_task: null,
});

it('searches on the server for assets that the form did not load, and says that there are more', async () => {
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
  expect(await screen.findByText(/There are more results/)).toBeTruthy();
  // Pasted, because slow typing would also search for half the word.
  await userEvent.paste('rare');
  expect(await screen.findByRole('option', { name: /A tag that is rare/ })).toBeTruthy();
  expect(screen.queryByRole('option', { name: /Recipes/ })).toBeNull();
  // The form loads four pages at most.
  expect(pages).toBe(4);
});

/** Opens a field with more assets than a form loads; a search returns `found`. */
async function openField(found: (search: string) => unknown, fits?: (one: AssetSummary) => boolean) {
  queryClient.clear();
  const searches: string[] = [];
  let pages = 0;
  vi.mocked(call).mockImplementation(async (...args: unknown[]) => {
    const { search } = (args[1] as { query?: { search: string } }).query ?? {};
    if (search === undefined) return asset('A rare one');
    if (search !== '') {
      searches.push(search);
      return found(search);
    }
    pages += 1;
    const datasets = Array.from({ length: 50 }, (_, n) => asset(`Recipes ${pages}-${n}`));
    return { datasets, next_cursor: 'more' };
  });
  const Form = () => {
    const [value, setValue] = useState<string | null>(null);
    return (
      <AssetField types="RAW" label="Dataset" failed="Failed" value={value} onChange={setValue} fits={fits} />
    );
  };
  render(
    <QueryClientProvider client={queryClient}>
      <Form />
    </QueryClientProvider>,
  );
  const field = screen.getByRole('combobox', { name: 'Dataset' });
  await userEvent.click(field);
  await screen.findByText(/There are more results/);
  return { field, searches };
}

it('reports a failed search as such, not as no results', async () => {
  const { field } = await openField(() => {
    throw new ApiError('The disk is on fire', { status: 400 });
  });
  await userEvent.type(field, 'rare');
  expect((await screen.findByRole('alert')).textContent).toBe('The search failed: The disk is on fire');
  expect(screen.queryByText('No datasets found')).toBeNull();
});

it('searches for the typed text, not for the selected name', async () => {
  const { field, searches } = await openField(() => ({ datasets: [asset('A rare one')], next_cursor: null }));
  await userEvent.type(field, 'rare');
  await userEvent.click(await screen.findByRole('option', { name: /A rare one/ }));
  await waitFor(() => expect((field as HTMLInputElement).value).toBe('A rare one'));
  // The initial options return, without a search.
  await userEvent.click(field);
  await screen.findByText(/Type to search all of them/);
  expect(searches).not.toContain('A rare one');
});

it('says that there are more if only some results can be selected', async () => {
  const { field } = await openField(
    () => ({ datasets: [asset('rare 1'), asset('rare 2')], next_cursor: 'more' }),
    (one) => one.title !== 'rare 2',
  );
  await userEvent.type(field, 'rare');
  expect(await screen.findByText('There are more results. Keep typing to narrow them down.')).toBeTruthy();
  expect(screen.getAllByRole('option')).toHaveLength(1);
});
