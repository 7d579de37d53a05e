import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ComponentType } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { notify } from '../../../ui/notify.ts';
import { UserContext } from '../../accounts/session.ts';
import { SendCreditsSheet } from './send-credits-sheet.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));
vi.mock('@tanstack/react-router', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  createLink:
    (Component: ComponentType<{ href: string }>) =>
    ({ to, ...props }: { to: string }) => <Component href={to} {...props} />,
  useLocation: ({ select }: { select: (location: { pathname: string }) => unknown }) => select({ pathname }),
}));
let pathname = '/dashboard';

let answer: () => Promise<unknown>;
/** The recipient that the server finds. */
let found: (() => Promise<unknown>) | null;
/** Returns a balance with this bought and this sendable amount. */
const bought = (all: string, sendable = all) => ({
  ...{ balance: all, held: '0', available: all, given: '0' },
  sendable,
});
let balance: ReturnType<typeof bought> | null;
const sent = () =>
  vi
    .mocked(call)
    .mock.calls.filter(([{ method }]) => method === 'POST')
    .map(([, request]) => (request as { body: unknown }).body);
const keys = () =>
  vi
    .mocked(call)
    .mock.calls.filter(([{ method }]) => method === 'POST')
    .map(([, , options]) => options?.idempotencyKey);

/** Renders the sheet like the URL does; Back closes it without calling it. */
function show() {
  const sheet = (open: boolean, recipient?: string) => (
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <SendCreditsSheet open={open} onClose={() => undefined} recipient={recipient} />
      </UserContext>
    </QueryClientProvider>
  );
  const { rerender } = render(sheet(true));
  return {
    goBack: () => rerender(sheet(false)),
    open: (recipient?: string) => rerender(sheet(true, recipient)),
  };
}

const recipient = () => screen.findByLabelText<HTMLInputElement>('Recipient');
const amount = () => screen.getByLabelText<HTMLInputElement>('Amount');

async function send(to: string, much: string) {
  await userEvent.type(await recipient(), to);
  await userEvent.type(amount(), much);
  await press();
}

/** Presses Send, and confirms if asked. */
async function press() {
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  const question = screen.queryByRole('alertdialog');
  if (question) await userEvent.click(await within(question).findByRole('button', { name: 'Send' }));
}

beforeEach(() => {
  cleanup();
  queryClient.clear();
  currencyChoice.set('USD');
  answer = () => Promise.resolve({});
  balance = null;
  found = null;
  vi.mocked(call)
    .mockReset()
    .mockImplementation(({ method, path }) => {
      if (method === 'POST') return answer();
      if (path.endsWith('/recipient') && found) return found();
      return balance && path.endsWith('/balance')
        ? Promise.resolve(balance)
        : Promise.reject(new Error('away'));
    });
});

test('does not show a past transfer when the sheet is reopened after Back', async () => {
  const sheet = show();
  await send('bob', '5');
  await screen.findByText('Transfer Successful');
  sheet.goBack();
  sheet.open();
  expect((await recipient()).value).toBe('');
  expect(screen.queryByText('Transfer Successful')).toBeNull();
});

test('reports a completed transfer even if later reads fail', async () => {
  show();
  await recipient();
  const read = vi.fn(() => new Promise(() => {}));
  queryClient.setQueryData(['balance', 'ada'], bought('500'));
  found = () => Promise.resolve({ recipient: { user_id: 'user-b', username: 'bob' } });
  vi.mocked(call).mockImplementation(({ method, path }) => {
    if (method === 'POST') return answer();
    return path.endsWith('/recipient') && found ? found() : read();
  });
  await send('bob', '5');
  expect(await screen.findByText('Transfer Successful')).toBeTruthy();
  expect(read).toHaveBeenCalled();
});

test('announces once a transfer that ended while the sheet was closed', async () => {
  let arrive: (value: unknown) => void = () => undefined;
  answer = () => new Promise((resolve) => (arrive = resolve));
  const sheet = show();
  await send('bob', '5');
  sheet.goBack();
  arrive({});
  await vi.waitFor(() => expect(sent()).toHaveLength(1));
  sheet.open();
  await screen.findByText('Transfer Successful');
  sheet.goBack();
  sheet.open();
  expect((await recipient()).value).toBe('');
});

test('announces a transfer that fails while the sheet is closed, and shows it when reopened', async () => {
  const announced = vi.spyOn(notify, 'failure').mockReturnValue(undefined);
  let refuse: (error: Error) => void = () => undefined;
  answer = () => new Promise((_resolve, reject) => (refuse = reject));
  const sheet = show();
  await send('bob', '5');
  sheet.goBack();
  refuse(new ApiError('No user has this name', { status: 404, param: 'recipient_id' }));
  await vi.waitFor(() =>
    expect(announced).toHaveBeenCalledExactlyOnceWith('Transfer Failed', {
      description: 'No user has this name',
    }),
  );
  sheet.open();
  await screen.findByText('Transfer Failed');
});

test('shows a failed transfer only in the open sheet, and asks before discarding the input', async () => {
  const announced = vi.spyOn(notify, 'failure').mockReturnValue(undefined);
  answer = () => Promise.reject(new ApiError('No user has this name', { status: 404 }));
  show();
  await send('bob', '5');
  await screen.findByText('Transfer Failed');
  expect(announced).not.toHaveBeenCalled();
  await userEvent.keyboard('{Escape}');
  await screen.findByText('Discard what you entered?');
});

test('keeps a draft after Back unless the sheet is opened for another recipient', async () => {
  const sheet = show();
  await userEvent.type(await recipient(), 'bob');
  sheet.goBack();
  sheet.open('bob');
  expect((await recipient()).value).toBe('bob');
  sheet.goBack();
  sheet.open('carol');
  await vi.waitFor(async () => expect((await recipient()).value).toBe('carol'));
});

test('an amount keeps its value when the currency is switched', async () => {
  currencyChoice.set('BGL');
  const sheet = show();
  await userEvent.type(await recipient(), 'bob');
  await userEvent.type(amount(), '9');
  sheet.goBack();
  currencyChoice.set('USD');
  sheet.open();
  await screen.findByText('BGL');
  await press();
  await screen.findByText('Transfer Successful');
  expect(sent()).toEqual([{ user_id: 'ada', recipient_id: 'bob', amount: '9' }]);
});

test("an empty form uses the header's currency", async () => {
  currencyChoice.set('BGL');
  const sheet = show();
  sheet.goBack();
  currencyChoice.set('USD');
  sheet.open();
  await send('bob', '1');
  await screen.findByText('Transfer Successful');
  expect(sent()).toMatchObject([{ amount: '25' }]);
});

test('keeps an amount with a decimal comma as typed, and does not send it', async () => {
  show();
  await send('bob', '0,02');
  await screen.findByText('Use only digits, and a point for decimals, e.g. 0.02');
  expect(amount().value).toBe('0,02');
  expect(sent()).toEqual([]);
});

test('shows below the amount that it exceeds the sendable credits, before asking', async () => {
  balance = bought('500', '300');
  show();
  await screen.findByText(/^You can send up to/);
  await send('bob', '12.5');
  await screen.findByText('You can send up to $12.00');
  expect(sent()).toEqual([]);
});

test('an amount above the balance shows a link to get credits', async () => {
  balance = bought('500');
  show();
  await screen.findByText(/^You can send up to/);
  await send('bob', '120');
  await screen.findByText('Insufficient balance. Required: $120.00. Available: $20.00.');
  expect(screen.getByRole('link', { name: 'Get credits' }).getAttribute('href')).toBe('/buy-bagels');
  expect(screen.queryByRole('alertdialog')).toBeNull();
  expect(sent()).toEqual([]);
});

test('explains in place of the form why nothing can be sent', async () => {
  balance = { ...bought('5', '0'), given: '5' };
  show();
  await screen.findByText('You cannot send any credits now');
  await screen.findByText(
    'All your credits are promotional. You can spend them, but not send them to other users.',
  );
  expect(screen.getByRole('link', { name: 'Get credits' }).getAttribute('href')).toBe('/buy-bagels');
  expect(screen.queryByText(/^You can send up to/)).toBeNull();
  expect(screen.queryByLabelText('Recipient')).toBeNull();
  expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
});

test('does not link to the page that is open', async () => {
  pathname = '/buy-bagels';
  balance = { ...bought('5', '0'), given: '5' };
  show();
  await screen.findByText('You cannot send any credits now');
  expect(screen.queryByRole('link', { name: 'Get credits' })).toBeNull();
  pathname = '/dashboard';
});

test('after a lost response the same transfer can be repeated even if the balance has dropped', async () => {
  balance = bought('125');
  answer = () => Promise.reject(new Error('lost'));
  show();
  await screen.findByText(/^You can send up to/);
  await send('bob', '4');
  await userEvent.click(await screen.findByRole('button', { name: 'Try Again' }));
  queryClient.setQueryData(['balance', 'ada'], bought('25', '0'));
  answer = () => Promise.resolve({});
  await press();
  await screen.findByText('Transfer Successful');
  expect(sent()).toHaveLength(2);
});

test('repeating a transfer that completed in the background makes a second transfer', async () => {
  let arrive: (value: unknown) => void = () => undefined;
  answer = () => new Promise((resolve) => (arrive = resolve));
  const sheet = show();
  await send('bob', '5');
  sheet.goBack();
  sheet.open('carol');
  await vi.waitFor(async () => expect((await recipient()).value).toBe('carol'));
  await act(async () => arrive({}));
  answer = () => Promise.resolve({});
  await userEvent.clear(await recipient());
  await send('bob', '5');
  await screen.findByText('Transfer Successful');
  expect(new Set(keys()).size).toBe(2);
});

test('retrying a rejected transfer checks the balance and uses a new key', async () => {
  balance = bought('125');
  answer = () => Promise.reject(new ApiError('No user has this name', { status: 404 }));
  show();
  await screen.findByText(/^You can send up to/);
  await send('bob', '4');
  await userEvent.click(await screen.findByRole('button', { name: 'Try Again' }));
  act(() => void queryClient.setQueryData(['balance', 'ada'], bought('25')));
  await press();
  await screen.findByText('Insufficient balance. Required: $4.00. Available: $1.00.');
  act(() => void queryClient.setQueryData(['balance', 'ada'], bought('125')));
  answer = () => Promise.resolve({});
  await press();
  await screen.findByText('Transfer Successful');
  expect(new Set(keys()).size).toBe(2);
});

test('a rate-limited retry after a lost response keeps the key', async () => {
  show();
  answer = () => Promise.reject(new Error('lost'));
  await send('bob', '4');
  await userEvent.click(await screen.findByRole('button', { name: 'Try Again' }));
  answer = () => Promise.reject(new ApiError('Too many calls', { status: 429 }));
  await press();
  await userEvent.click(await screen.findByRole('button', { name: 'Try Again' }));
  answer = () => Promise.resolve({});
  await press();
  await screen.findByText('Transfer Successful');
  expect(keys()).toHaveLength(3);
  expect(new Set(keys()).size).toBe(1);
});

test('looks up and shows the recipient before sending', async () => {
  let tell: (answer: unknown) => void = () => undefined;
  found = () => new Promise((resolve) => (tell = resolve));
  show();
  await userEvent.type(await recipient(), 'user-7');
  await userEvent.type(amount(), '1');
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  expect(screen.queryByRole('alertdialog')).toBeNull();
  await act(async () => tell({ recipient: { user_id: 'user-7', username: 'sam' } }));
  const question = within(await screen.findByRole('alertdialog'));
  question.getByText('Send $1.00 to sam?');
  await userEvent.click(question.getByRole('button', { name: 'Send' }));
  await screen.findByText('Transfer Successful');
  expect(sent()).toEqual([{ user_id: 'ada', recipient_id: 'user-7', amount: '25' }]);
});

test('confirms an address as typed, without a lookup', async () => {
  found = vi.fn(() => Promise.resolve({ recipient: { user_id: 'u', username: 'sam' } }));
  show();
  await userEvent.type(await recipient(), 'sam@example.com');
  await userEvent.type(amount(), '1');
  await userEvent.click(screen.getByRole('button', { name: 'Send' }));
  const question = within(await screen.findByRole('alertdialog'));
  question.getByText('Send $1.00 to sam@example.com?');
  await userEvent.click(question.getByRole('button', { name: 'Cancel' }));
  expect(found).not.toHaveBeenCalled();
  expect(sent()).toEqual([]);
});

test('does not ask to confirm an unknown name', async () => {
  found = () => Promise.resolve({ recipient: null });
  show();
  await send('nobody', '1');
  await screen.findByText('No user has this username or ID');
  expect(screen.queryByRole('alertdialog')).toBeNull();
  expect(document.activeElement).toBe(await recipient());
  await userEvent.type(await recipient(), '-else');
  expect(screen.queryByText('No user has this username or ID')).toBeNull();
  expect(sent()).toEqual([]);
});
