import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ReactElement } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from './lib/api/api-client.ts';
import { queryClient } from './lib/api/query-client.ts';
import { DeleteAccountDialog } from './modules/accounts/profile/delete-account-dialog.tsx';
import { NameForm } from './modules/accounts/profile/name-form.tsx';
import { UserContext } from './modules/accounts/session.ts';
import { CheckoutCard } from './modules/billing/buy/checkout-card.tsx';
import { RedeemCard } from './modules/billing/buy/redeem-card.tsx';
import { SendCreditsSheet } from './modules/billing/send/send-credits-sheet.tsx';
import { EditAssetDialog } from './modules/datasets/edit-asset-dialog.tsx';
import { RequestAccessForm } from './modules/models/restricted/request-access-form.tsx';
import { RestrictedModelDialog } from './modules/models/restricted/restricted-model-dialog.tsx';
import { CreateCodesCard } from './modules/operator/codes/create-codes-card.tsx';
import { ChangePriceDialog } from './modules/operator/prices/change-price-dialog.tsx';

vi.mock('./lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));

const nothing = () => undefined;
const asset = { dataset_id: 'd1', title: 'Rye', details: '', tags: [] };
const price = { id: 'p1', label: 'One picture', unit: 'image', unit_price: '1', next: null };
const deletion = {
  owed: '0',
  bought: '5',
  given: '0',
  datasets: 0,
  models: 0,
  running: 0,
  asks_password: true,
};
const balance = { balance: '5', held: '0', available: '5', sendable: '5' };

const CONSENT = 'Forfeit';

/** Form, submit button, the first field that is invalid, and a field to clear first. */
const forms: [form: ReactElement, button: string, wrong: string, emptied?: string][] = [
  [<RedeemCard key="" />, 'Redeem', 'Code'],
  [<CheckoutCard key="" />, 'Continue to payment', 'Another amount', 'Another amount'],
  [<CreateCodesCard key="" />, 'Create codes', 'Value of each code'],
  [<ChangePriceDialog key="" price={price as never} onClose={nothing} />, 'Change the price', 'New price'],
  [<EditAssetDialog key="" asset={asset as never} onClose={nothing} />, 'Save', 'Name', 'Name'],
  [<RestrictedModelDialog key="" onClose={nothing} />, 'Add', 'ID'],
  [<RequestAccessForm key="" modelId="m1" />, 'Request access', 'Message'],
  [<DeleteAccountDialog key="" onClose={nothing} />, 'Delete account', CONSENT],
  [<NameForm key="" name="Ada" />, 'Save', 'Name', 'Name'],
  [<SendCreditsSheet key="" open onClose={nothing} />, 'Send', 'Recipient'],
];

beforeEach(() => {
  cleanup();
  queryClient.clear();
  vi.mocked(call)
    .mockReset()
    .mockResolvedValue({ ...deletion, ...balance });
});

test.each(forms)(
  'form %# focuses its first invalid field when rejected',
  async (form, button, wrong, emptied) => {
    render(
      <QueryClientProvider client={queryClient}>
        <UserContext value={{ id: 'ada' } as never}>{form}</UserContext>
      </QueryClientProvider>,
    );
    const field = await screen.findByRole(wrong === CONSENT ? 'checkbox' : 'textbox', {
      name: new RegExp(`^${wrong}`),
    });
    if (emptied) fireEvent.change(field, { target: { value: '' } });
    await userEvent.click(screen.getByRole('button', { name: new RegExp(button) }));
    await vi.waitFor(() => expect(document.activeElement).toBe(field));
  },
);
