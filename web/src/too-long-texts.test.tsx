import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactElement } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from './lib/api/api-client.ts';
import { queryClient } from './lib/api/query-client.ts';
import { UserContext } from './modules/accounts/session.ts';
import { CreateDatasetSheet } from './modules/datasets/create-dataset-sheet.tsx';
import { EditAssetDialog } from './modules/datasets/edit-asset-dialog.tsx';
import { RequestAccessForm } from './modules/models/restricted/request-access-form.tsx';
import { RestrictedModelDialog } from './modules/models/restricted/restricted-model-dialog.tsx';
import { CreateCodesCard } from './modules/operator/codes/create-codes-card.tsx';
import { GrantCard } from './modules/operator/ledger/grant-card.tsx';
import { ShareOnX } from './modules/referrals/share-on-x.tsx';

vi.mock('./lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));
vi.mock('@tanstack/react-router', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  getRouteApi: () => ({ useSearch: () => ({}) }),
  useNavigate: () => vi.fn<() => void>(),
}));

const nothing = () => undefined;
const asset = { dataset_id: 'd1', title: 'Rye', details: '', tags: [] } as never;
const model = { id: 'm1', name: 'Rye', family: '', details: '', tags: [], dataset_id: null } as never;

/** Form, submit button, field, and the limit in its error message. */
const fields: [form: ReactElement, button: string, field: string, limit: string][] = [
  [<EditAssetDialog key="" asset={asset} onClose={nothing} />, 'Save', 'Description', '10,000'],
  [<EditAssetDialog key="" asset={asset} onClose={nothing} />, 'Save', 'Tags', '50'],
  [<RestrictedModelDialog key="" model={model} onClose={nothing} />, 'Save', 'Description', '10,000'],
  [<RestrictedModelDialog key="" model={model} onClose={nothing} />, 'Save', 'Family', '50'],
  [<RestrictedModelDialog key="" model={model} onClose={nothing} />, 'Save', 'Tags', '50'],
  [<RequestAccessForm key="" modelId="m1" />, 'Request access', 'Message', '2,000'],
  [<CreateDatasetSheet key="" open onClose={nothing} />, 'Create', 'Tags', '50'],
  [<CreateCodesCard key="" />, 'Create codes', 'Note', '200'],
  [<GrantCard key="" />, 'Grant', 'Description', '200'],
  [<ShareOnX key="" code="abcd2345" link="https://bakehouse.example" />, 'Post on X', 'Post on X', '256'],
];

beforeEach(() => {
  cleanup();
  queryClient.clear();
  vi.mocked(call)
    .mockReset()
    .mockResolvedValue({ status: 'connected', username: 'ada', post_url: null, datasets: [] });
});

test.each(fields)(
  'form %#: does not truncate a text that is too long, and shows the limit',
  async (form, button, label, limit) => {
    render(
      <QueryClientProvider client={queryClient}>
        <UserContext value={{ id: 'ada' } as never}>{form}</UserContext>
      </QueryClientProvider>,
    );
    const folded = screen.queryByRole('button', { name: 'More' });
    if (folded) await userEvent.click(folded);
    const field = await screen.findByRole<HTMLInputElement>('textbox', { name: new RegExp(`^${label}`) });
    await userEvent.click(field);
    await userEvent.paste('e'.repeat(12_000));
    await userEvent.click(screen.getByRole('button', { name: button }));
    const sentence = await screen.findByText(new RegExp(` must have at most ${limit} characters$`));
    expect(field.getAttribute('aria-describedby')).toContain(sentence.closest('[id]')?.id);
    const text = label === 'Tags' ? screen.getByText(/^e+$/).textContent : field.value;
    expect(text).toMatch(/e{12000}$/);
    expect(vi.mocked(call).mock.calls.filter(([, input]) => 'body' in (input as object))).toEqual([]);
  },
);
