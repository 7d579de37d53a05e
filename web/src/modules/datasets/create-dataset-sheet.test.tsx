import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { CreateDatasetSheet } from './create-dataset-sheet.tsx';
import { uploadFiles } from './files/uploads/uploads.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>(async () => 'd1' as never) }));
vi.mock('../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('./files/uploads/uploads.ts', async (original) => ({
  ...(await original<typeof import('./files/uploads/uploads.ts')>()),
  uploadFiles: vi.fn<typeof uploadFiles>(() => new Promise(() => undefined)),
}));

test('after Manage Dataset, Back does not reopen the sheet', async () => {
  const history = openSheet(['/dataset', '/dataset?sheet=create-dataset']);
  await userEvent.type(await screen.findByLabelText('Name'), 'Rye');
  await userEvent.click(screen.getByRole('button', { name: 'More' }));
  await userEvent.click(screen.getByRole('combobox', { name: 'Category' }));
  await userEvent.click(await screen.findByRole('option', { name: 'Book' }));
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  await userEvent.click(await screen.findByRole('link', { name: 'Manage Dataset' }));
  await waitFor(() => expect(history.location.pathname).toBe('/dataset/d1/description'));
  await act(async () => history.back());
  await waitFor(() => expect(history.location.href).toBe('/dataset'));
});

function openSheet(initialEntries = ['/dataset']) {
  const routeTree = createRootRoute({
    component: () => (
      <QueryClientProvider client={queryClient}>
        <CreateDatasetSheet open onClose={() => undefined} />
      </QueryClientProvider>
    ),
  });
  const history = createMemoryHistory({ initialEntries });
  render(<RouterProvider router={createRouter({ routeTree, history }) as never} />);
  return history;
}

test('uploads the chosen files, which suggest the name, and opens the dataset', async () => {
  const history = openSheet();
  const chosen = [new File(['a'], 'rye.csv'), new File(['{}'], 'b.jsonl')];
  await userEvent.upload(await screen.findByLabelText('Choose files'), chosen.slice(0, 1));
  expect(screen.getByLabelText<HTMLInputElement>('Name').value).toBe('rye');
  await userEvent.upload(screen.getByLabelText('Choose files'), chosen.slice(1));
  await userEvent.click(screen.getByRole('button', { name: 'Remove rye.csv' }));
  await userEvent.click(screen.getByRole('button', { name: 'Create' }));
  await waitFor(() => expect(history.location.pathname).toBe('/dataset/d1/description'));
  expect(uploadFiles).toHaveBeenLastCalledWith('d1', [{ file: chosen[1], path: 'b.jsonl' }]);
});

test('IPFS is off until it is switched on', async () => {
  openSheet();
  const send = async (presses: number) => {
    await userEvent.type(await screen.findByLabelText('Name'), 'Rye');
    if (presses > 0) await userEvent.click(screen.getByRole('button', { name: 'More' }));
    for (let press = 0; press < presses; press += 1)
      await userEvent.click(screen.getByRole('switch', { name: 'IPFS' }));
    await userEvent.click(screen.getByRole('button', { name: 'Create' }));
    await userEvent.click(await screen.findByRole('button', { name: 'Create Dataset' }));
    const [, sent] = vi.mocked(call).mock.lastCall ?? [];
    return (sent as { body: { use_ipfs?: boolean } }).body.use_ipfs;
  };
  expect(await send(0)).toBe(false);
  expect(await send(1)).toBe(true);
  expect(await send(2)).toBe(false);
});
