import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { EditAssetDialog } from './edit-asset-dialog.tsx';
import { RestrictedModelDialog } from './restricted/restricted-model-dialog.tsx';

vi.mock('../../lib/api/api-client.ts', () => ({
  call: vi.fn<() => Promise<never>>(() => new Promise(() => undefined)),
}));
vi.mock('../accounts/api.ts', async (original) => ({
  ...(await original<typeof import('../accounts/api.ts')>()),
  useUser: () => ({ id: 'ada' }),
}));

beforeEach(() => {
  cleanup();
  vi.mocked(call).mockClear();
});

const texts = { title: 'Rye', name: 'Rye', details: '', tags: ['bread'] };

test.each([
  ['a dataset or model', EditAssetDialog],
  ['a restricted model', RestrictedModelDialog],
])('what was typed of %s is not discarded without asking', async (_what, Edit) => {
  const onClose = vi.fn<() => void>();
  const both = { ...texts, id: 'm1', family: '' } as never;
  render(
    <QueryClientProvider client={queryClient}>
      <Edit asset={both} model={both} onClose={onClose} />
    </QueryClientProvider>,
  );
  const name = await screen.findByLabelText('Name');
  await userEvent.keyboard('{Escape}');
  expect(onClose).toHaveBeenCalledOnce();
  await userEvent.type(name, ' bread');
  await userEvent.keyboard('{Escape}');
  await screen.findByRole('alertdialog', { name: 'Discard what you entered?' });
  expect(onClose).toHaveBeenCalledOnce();
});

const renderEdit = (onClose: () => void) =>
  render(
    <QueryClientProvider client={queryClient}>
      <EditAssetDialog asset={{ ...texts, dataset_id: 'd1' } as never} onClose={onClose} />
    </QueryClientProvider>,
  );

test('only what was changed is sent: what another tab has changed meanwhile stays', async () => {
  renderEdit(() => undefined);
  await userEvent.type(await screen.findByLabelText('Tags'), 'rye{Enter}');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(vi.mocked(call).mock.calls.map(([, input]) => input)).toEqual([
    { params: { id: 'd1' }, body: { tags: ['bread', 'rye'] } },
  ]);
});

test('Save of an unchanged one closes and sends nothing', async () => {
  const onClose = vi.fn<() => void>();
  renderEdit(onClose);
  await userEvent.click(await screen.findByRole('button', { name: 'Save' }));
  expect(onClose).toHaveBeenCalledOnce();
  expect(call).not.toHaveBeenCalled();
});

test('a name that is too long is not cut off: the form says how long it may be', async () => {
  renderEdit(() => undefined);
  const name = await screen.findByLabelText('Name');
  await userEvent.click(name);
  await userEvent.paste('e'.repeat(500));
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText('Name must have at most 200 characters')).toBeTruthy();
  expect((name as HTMLInputElement).value).toHaveLength(503);
  expect(call).not.toHaveBeenCalled();
});
