import type { Generation } from '@bakehouse/contract/generations';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { UserContext } from '../../accounts/session.ts';
import { generationOf } from '../testing/generation-of.ts';
import { TrainingDialog } from './training-dialog.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn(() => new Promise(() => {})) }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => () => undefined,
}));

const show = (generations: Generation[]) =>
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <TrainingDialog generations={generations} onClose={() => undefined} onAdded={() => undefined} />
      </UserContext>
    </QueryClientProvider>,
  );
const edit = (id: string) => generationOf({ id, generator: 'flux-kontext' });

test('shows the number of added pictures and of skipped edits', () => {
  const { unmount } = show([generationOf(), edit('e1'), edit('e2')]);
  screen.getByRole('dialog', { name: 'Add 1 picture to a dataset' });
  screen.getByText(/The 2 edits you selected are left out/);
  unmount();
  show([edit('e1')]);
  screen.getByText(/The edit is left out/);
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Add pictures' }).disabled).toBe(true);
});

test('suggests a name that no other dataset has', async () => {
  const named = (title: string) => ({ dataset_id: title, title, file_count: 1, size_bytes: 1 });
  vi.mocked(call).mockResolvedValue({ datasets: [named('Training pictures')], next_cursor: null });
  show([generationOf()]);
  await waitFor(() =>
    expect(screen.getByLabelText<HTMLInputElement>('Name').value).toBe('Training pictures 2'),
  );
});

test('keeps an overlong pasted name and creates no dataset', async () => {
  show([generationOf()]);
  const field = screen.getByLabelText<HTMLInputElement>('Name');
  await userEvent.clear(field);
  await userEvent.click(field);
  await userEvent.paste('e'.repeat(201));
  await userEvent.click(screen.getByRole('button', { name: 'Add pictures' }));
  expect(field.value).toHaveLength(201);
  expect(await screen.findByText('Name must have at most 200 characters')).toBeTruthy();
  expect(vi.mocked(call).mock.calls.every(([{ method }]) => method === 'GET')).toBe(true);
});
