import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { EditAssetDialog } from './edit-asset-dialog.tsx';
import { RestrictedModelDialog } from './restricted/restricted-model-dialog.tsx';

vi.mock('../../lib/api/api-client.ts', () => ({ call: () => new Promise(() => undefined) }));
vi.mock('../accounts/api.ts', async (original) => ({
  ...(await original<typeof import('../accounts/api.ts')>()),
  useUser: () => ({ id: 'ada' }),
}));

const texts = { title: 'Rye', name: 'Rye', details: '', tags: ['bread'] };

test.each([
  ['a dataset or model', EditAssetDialog],
  ['a restricted model', RestrictedModelDialog],
])('what was typed of %s is not discarded without asking', async (_what, Edit) => {
  cleanup();
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
