import { updateAsset } from '@bakehouse/contract/assets';
import { saveRestrictedModel } from '@bakehouse/contract/restricted-models';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { RestrictedModelDialog } from '../models/restricted/restricted-model-dialog.tsx';
import { EditAssetDialog } from './edit-asset-dialog.tsx';

vi.mock('../../lib/api/api-client.ts', () => ({
  call: vi.fn<() => Promise<never>>(() => new Promise(() => undefined)),
}));
vi.mock('../accounts/session.ts', async (original) => ({
  ...(await original<typeof import('../accounts/session.ts')>()),
  useUser: () => ({ id: 'ada' }),
}));

beforeEach(() => {
  cleanup();
  vi.mocked(call).mockClear();
});

const texts = { title: 'Rye', name: 'Rye', details: '', tags: ['bread'] };

const dialogs = [
  ['a dataset or model', EditAssetDialog, updateAsset, { id: 'd1' }],
  ['a restricted model', RestrictedModelDialog, saveRestrictedModel, { modelId: 'm1' }],
] as const;

function renderEdit(Edit: (typeof dialogs)[number][1], onClose: () => void = () => undefined) {
  const both = { ...texts, dataset_id: 'd1', id: 'm1', family: '' } as never;
  render(
    <QueryClientProvider client={queryClient}>
      <Edit asset={both} model={both} onClose={onClose} />
    </QueryClientProvider>,
  );
}

test.each(dialogs)('asks before discarding edits of %s', async (_what, Edit) => {
  const onClose = vi.fn<() => void>();
  renderEdit(Edit, onClose);
  const name = await screen.findByLabelText('Name');
  await userEvent.keyboard('{Escape}');
  expect(onClose).toHaveBeenCalledOnce();
  await userEvent.type(name, ' bread');
  await userEvent.keyboard('{Escape}');
  await screen.findByRole('alertdialog', { name: 'Discard what you entered?' });
  expect(onClose).toHaveBeenCalledOnce();
});

/** Returns the updates that were sent, without the dialog's other requests. */
const sentTo = (endpoint: unknown) =>
  vi.mocked(call).mock.calls.flatMap(([called, input]) => (called === endpoint ? [input] : []));

test.each(dialogs)(
  "sends only the changed fields of %s, so that another tab's changes stay",
  async (_what, Edit, endpoint, params) => {
    renderEdit(Edit);
    await userEvent.type(await screen.findByLabelText('Tags'), 'rye{Enter}');
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    expect(sentTo(endpoint)).toEqual([{ params, body: { tags: ['bread', 'rye'] } }]);
  },
);

test.each(dialogs)('saving %s without changes closes and sends nothing', async (_what, Edit, endpoint) => {
  const onClose = vi.fn<() => void>();
  renderEdit(Edit, onClose);
  await userEvent.click(await screen.findByRole('button', { name: 'Save' }));
  expect(onClose).toHaveBeenCalledOnce();
  expect(sentTo(endpoint)).toEqual([]);
});

test.each(dialogs)(
  'does not truncate an overlong name of %s, but shows the limit',
  async (_what, Edit, endpoint) => {
    renderEdit(Edit);
    const name = await screen.findByLabelText('Name');
    await userEvent.click(name);
    await userEvent.paste('e'.repeat(500));
    await userEvent.click(screen.getByRole('button', { name: 'Save' }));
    expect(await screen.findByText('Name must have at most 200 characters')).toBeTruthy();
    expect((name as HTMLInputElement).value).toHaveLength(503);
    expect(sentTo(endpoint)).toEqual([]);
  },
);
