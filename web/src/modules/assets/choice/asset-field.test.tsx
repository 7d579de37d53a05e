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
  expect(await screen.findByText(/There are more results/)).toBeTruthy();
  // At once: half of the word, typed slowly, would be searched for too.
  await userEvent.paste('rare');
  expect(await screen.findByRole('option', { name: /A tag that is rare/ })).toBeTruthy();
  expect(screen.queryByRole('option', { name: /Recipes/ })).toBeNull();
  // It did not read all of them.
  expect(pages).toBe(4);
});

/** More than a form holds; a search gives what `found` says. */
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

it('says that a search failed, and not that nothing was found', async () => {
  const { field } = await openField(() => {
    throw new ApiError('The disk is on fire', { status: 400 });
  });
  await userEvent.type(field, 'rare');
  expect((await screen.findByRole('alert')).textContent).toBe('The search failed: The disk is on fire');
  expect(screen.queryByText('No datasets found')).toBeNull();
});

it('searches for what is typed, and not for what is chosen', async () => {
  const { field, searches } = await openField(() => ({ datasets: [asset('A rare one')], next_cursor: null }));
  await userEvent.type(field, 'rare');
  await userEvent.click(await screen.findByRole('option', { name: /A rare one/ }));
  await waitFor(() => expect((field as HTMLInputElement).value).toBe('A rare one'));
  // The first choices are back: nothing is searched for.
  await userEvent.click(field);
  await screen.findByText(/Type to search all of them/);
  expect(searches).not.toContain('A rare one');
});

it('says that there are more where only some of what was found can be chosen', async () => {
  const { field } = await openField(
    () => ({ datasets: [asset('rare 1'), asset('rare 2')], next_cursor: 'more' }),
    (one) => one.title !== 'rare 2',
  );
  await userEvent.type(field, 'rare');
  expect(await screen.findByText('There are more results. Keep typing to narrow them down.')).toBeTruthy();
  expect(screen.getAllByRole('option')).toHaveLength(1);
});
