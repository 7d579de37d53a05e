import { listAccounts } from '@bakehouse/contract/credits';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { notify } from '../../../ui/notify.ts';
import { ChargebackCard } from './chargeback-card.tsx';
import { GrantCard } from './grant-card.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));
const notified = vi.spyOn(notify, 'success').mockReturnValue(undefined);

const button = (name: string) => screen.getByRole('button', { name });
const question = async () => within(await screen.findByRole('alertdialog'));
/** Returns the bookings that were sent. */
const bodies = () =>
  vi
    .mocked(call)
    .mock.calls.filter(([{ method }]) => method === 'POST')
    .map(([, input]) => input);

/** Fakes a server with these users and this answer to a booking. */
function serve(booked: () => Promise<unknown>) {
  const user = (username: string) => ({
    user_id: `id-of-${username}`,
    username,
    name: 'Ada Lovelace',
    email: `${username}@example.com`,
  });
  vi.mocked(call).mockImplementation(async (endpoint: unknown, input: unknown) => {
    if (endpoint !== listAccounts) return booked();
    const asked = (input as { query: { user: string } }).query.user.toLowerCase();
    return { accounts: asked.startsWith('ada') ? [user('ada')] : [], next_cursor: null };
  });
}

beforeEach(() => {
  cleanup();
  vi.mocked(call).mockReset();
  notified.mockClear();
});

const open = (card: React.ReactNode) =>
  render(<QueryClientProvider client={queryClient}>{card}</QueryClientProvider>);

test('a chargeback explains its effect, and then shows the collected and owed amounts', async () => {
  serve(async () => ({ transaction_id: 't', amount: '125', collected: '100', owed: '25' }));
  open(<ChargebackCard />);
  await userEvent.click(button('Charge back'));
  expect(await screen.findByText('Payer username cannot be empty')).toBeTruthy();
  await userEvent.type(screen.getByLabelText('Payer'), 'ada');
  await userEvent.type(screen.getByLabelText('Amount'), '5');
  expect(screen.getByText('$5.00 = 125.00 BGL')).toBeTruthy();
  await userEvent.click(button('Charge back'));
  const dialog = await question();
  expect(dialog.getByText('Charge $5.00 (125.00 BGL) back from ada?')).toBeTruthy();
  expect(dialog.getByText(/the rest becomes a debt/)).toBeTruthy();
  expect(bodies()).toEqual([]);
  await userEvent.click(dialog.getByRole('button', { name: 'Charge back' }));
  await vi.waitFor(() =>
    expect(notified).toHaveBeenCalledWith('Charged $5.00 back from ada', {
      description: 'Collected: $4.00. Still owed: $1.00.',
    }),
  );
  expect(bodies()).toEqual([{ body: { payer_id: 'id-of-ada', amount: '125' } }]);
});

test.each([
  ['125', '0', 'All of it was collected.'],
  ['0', '125', 'Nothing could be collected yet: all of it is owed.'],
])('%s collected and %s owed', async (collected, owed, description) => {
  serve(async () => ({ transaction_id: 't', amount: '125', collected, owed }));
  open(<ChargebackCard />);
  await userEvent.type(screen.getByLabelText('Payer'), 'ada');
  await userEvent.type(screen.getByLabelText('Amount'), '125');
  await userEvent.click(button('Charge back'));
  await userEvent.click((await question()).getByRole('button', { name: 'Charge back' }));
  await vi.waitFor(() => expect(notified).toHaveBeenCalledWith(expect.any(String), { description }));
});

const noSuchUser = 'User not found. Please check the username.';

test('shows an unknown user at the field, without asking or losing input', async () => {
  serve(() => Promise.reject(new Error('nobody asks for this')));
  open(<GrantCard />);
  await userEvent.type(screen.getByLabelText('Recipient'), 'nobody');
  await userEvent.type(screen.getByLabelText('Amount'), '5');
  await userEvent.click(button('Grant'));
  expect(await screen.findByText(noSuchUser)).toBeTruthy();
  expect(screen.queryByRole('alertdialog')).toBeNull();
  expect(screen.getByLabelText<HTMLInputElement>('Amount').value).toBe('5');
  expect(bodies()).toEqual([]);
});

test('books by the typed address, so that an unconfirmed one is rejected', async () => {
  serve(() => new Promise(() => {}));
  open(<GrantCard />);
  await userEvent.type(screen.getByLabelText('Recipient'), 'ada@example.com');
  await userEvent.type(screen.getByLabelText('Amount'), '5');
  await userEvent.click(button('Grant'));
  await userEvent.click((await question()).getByRole('button', { name: 'Grant' }));
  expect(bodies()).toEqual([{ body: { recipient_id: 'ada@example.com', amount: '125' } }]);
});

test('shows at the field that the user has been deleted since the confirmation', async () => {
  serve(() => Promise.reject(new ApiError(noSuchUser, { status: 404, code: 'not_found' })));
  open(<GrantCard />);
  await userEvent.type(screen.getByLabelText('Recipient'), 'ada');
  await userEvent.type(screen.getByLabelText('Amount'), '5');
  await userEvent.click(button('Grant'));
  await userEvent.click((await question()).getByRole('button', { name: 'Grant' }));
  expect(await screen.findByText(noSuchUser)).toBeTruthy();
  expect(bodies()).toEqual([{ body: { recipient_id: 'id-of-ada', amount: '125' } }]);
});

test('the confirmation shows the exact amount and the account', async () => {
  serve(() => new Promise(() => {}));
  open(<GrantCard />);
  await userEvent.type(screen.getByLabelText('Recipient'), 'Ada@Example.com');
  await userEvent.type(screen.getByLabelText('Amount'), '3.005');
  await userEvent.click(button('Grant'));
  const dialog = await question();
  expect(dialog.getByText('Grant $3.005 (75.125 BGL) to ada?')).toBeTruthy();
  expect(dialog.getByText('Ada Lovelace, ada@example.com')).toBeTruthy();
});

test('shows below the amount that it exceeds the limit', async () => {
  open(<GrantCard />);
  await userEvent.type(screen.getByLabelText('Recipient'), 'ada');
  await userEvent.type(screen.getByLabelText('Amount'), '99999999999');
  await userEvent.click(button('Grant'));
  expect(await screen.findByText('Amount must be less than $40,000,000,000.00')).toBeTruthy();
  expect(screen.queryByRole('alertdialog')).toBeNull();
});
