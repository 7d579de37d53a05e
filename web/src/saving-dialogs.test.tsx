import { previewDeletion } from '@bakehouse/contract/privacy';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactElement } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from './lib/api/api-client.ts';
import { queryClient } from './lib/api/query-client.ts';
import { DeleteAccountDialog } from './modules/accounts/profile/delete-account-dialog.tsx';
import { UserContext } from './modules/accounts/session.ts';
import { EditAssetDialog } from './modules/datasets/edit-asset-dialog.tsx';
import { TrainingDialog } from './modules/gallery/gallery/training-dialog.tsx';
import { generationOf } from './modules/gallery/testing/generation-of.ts';
import { RestrictedModelDialog } from './modules/models/restricted/restricted-model-dialog.tsx';

vi.mock('./lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));
vi.mock('@tanstack/react-router', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  useNavigate: () => vi.fn<() => void>(),
}));

const asset = { dataset_id: 'd1', title: 'Rye', details: '', tags: [] } as never;
const model = { id: 'm1', name: 'Rye', family: '', details: '', tags: [], dataset_id: null } as never;
const deletion = {
  owed: '0',
  bought: '0',
  given: '0',
  datasets: 0,
  models: 0,
  running: 0,
  asks_password: true,
};

const onClose = vi.fn<() => void>();

/** A dialog, its save button and one of its fields. */
const dialogs: [dialog: ReactElement, button: string, field: string][] = [
  [<EditAssetDialog key="" asset={asset} onClose={onClose} />, 'Save', 'Name'],
  [<RestrictedModelDialog key="" model={model} onClose={onClose} />, 'Save', 'Name'],
  [
    <TrainingDialog key="" generations={[generationOf()]} onClose={onClose} onAdded={onClose} />,
    'Add pictures',
    'Name',
  ],
  [<DeleteAccountDialog key="" onClose={onClose} />, 'Delete account', 'Password'],
];

beforeEach(() => {
  queryClient.clear();
  onClose.mockReset();
  // Only the requests that the dialog needs to render complete.
  vi.mocked(call)
    .mockReset()
    .mockImplementation((endpoint: unknown) =>
      endpoint === previewDeletion ? Promise.resolve(deletion) : new Promise(() => undefined),
    );
});

test.each(dialogs)(
  'dialog %# stays open while saving, which may fail, and keeps its input',
  async (dialog, button, label) => {
    render(
      <QueryClientProvider client={queryClient}>
        <UserContext value={{ id: 'ada' } as never}>{dialog}</UserContext>
      </QueryClientProvider>,
    );
    const field = await screen.findByLabelText<HTMLInputElement>(new RegExp(`^${label}`));
    await userEvent.type(field, '2');
    const typed = field.value;
    await userEvent.click(screen.getByRole('button', { name: button }));
    await vi.waitFor(() =>
      expect(vi.mocked(call).mock.calls.filter(([{ method }]) => method !== 'GET')).toHaveLength(1),
    );
    await userEvent.keyboard('{Escape}');
    await userEvent.click(screen.getByRole('button', { name: 'Close' }));
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Cancel' }).disabled).toBe(true);
    expect(screen.queryByRole('alertdialog')).toBeNull();
    expect(onClose).not.toHaveBeenCalled();
    expect(field.value).toBe(typed);
  },
);
