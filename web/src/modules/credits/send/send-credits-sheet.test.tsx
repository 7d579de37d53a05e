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
}));

let answer: () => Promise<unknown>;
/** Whom the server finds. */
let found: (() => Promise<unknown>) | null;
/** So much was bought, and so much of it can be sent. */
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

/** The sheet as the URL opens and closes it: by Back it closes without a word to it. */
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

/** Presses Send, and again where it is asked about. */
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

test('what was sent is not shown again when the sheet is opened after Back', async () => {
  const sheet = show();
  await send('bob', '5');
  await screen.findByText('Transfer Successful');
  sheet.goBack();
  sheet.open();
  expect((await recipient()).value).toBe('');
  expect(screen.queryByText('Transfer Successful')).toBeNull();
});

test('a transfer is told as done though nothing can be read after it', async () => {
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

test('a transfer that ended while the sheet was closed is announced once', async () => {
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

test('a transfer that fails while the sheet is closed is announced, and is there when it is opened again', async () => {
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

test('a transfer that fails in sight is told there alone, and closing asks before it discards what was typed', async () => {
  const announced = vi.spyOn(notify, 'failure').mockReturnValue(undefined);
  answer = () => Promise.reject(new ApiError('No user has this name', { status: 404 }));
  show();
  await send('bob', '5');
  await screen.findByText('Transfer Failed');
  expect(announced).not.toHaveBeenCalled();
  await userEvent.keyboard('{Escape}');
  await screen.findByText('Discard what you entered?');
});

test('a draft stays after Back, unless the sheet is opened for somebody else', async () => {
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

test('a form without a draft begins in the currency of the header', async () => {
  currencyChoice.set('BGL');
  const sheet = show();
  sheet.goBack();
  currencyChoice.set('USD');
  sheet.open();
  await send('bob', '1');
  await screen.findByText('Transfer Successful');
  expect(sent()).toMatchObject([{ amount: '25' }]);
});

test('an amount with a decimal comma stays as it was typed, and is not sent', async () => {
  show();
  await send('bob', '0,02');
  await screen.findByText('Use only digits, and a point for decimals, e.g. 0.02');
  expect(amount().value).toBe('0,02');
  expect(sent()).toEqual([]);
});

test('more than can be sent is said under the amount, before anything is asked', async () => {
  balance = bought('500', '300');
  show();
  await screen.findByText(/^You can send up to/);
  await send('bob', '12.5');
  await screen.findByText('You can send up to $12.00');
  expect(sent()).toEqual([]);
});

test('more than there is leads to where credits come from', async () => {
  balance = bought('500');
  show();
  await screen.findByText(/^You can send up to/);
  await send('bob', '120');
  await screen.findByText('Insufficient balance. Required: $120.00. Available: $20.00.');
  expect(screen.getByRole('link', { name: 'Get credits' }).getAttribute('href')).toBe('/buy-bagels');
  expect(screen.queryByRole('alertdialog')).toBeNull();
  expect(sent()).toEqual([]);
});

test('where nothing can be sent the form says why before anything is typed, and sends nothing', async () => {
  balance = { ...bought('5', '0'), given: '5' };
  show();
  await screen.findByText('You cannot send any credits now');
  await screen.findByText('All you have is promotional credit. You can spend it, but not send it to others.');
  expect(screen.getByRole('link', { name: 'Get credits' }).getAttribute('href')).toBe('/buy-bagels');
  expect(screen.queryByText(/^You can send up to/)).toBeNull();
  await send('bob', '0.1');
  await userEvent.type(amount(), '{Enter}');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Send' }).disabled).toBe(true);
  expect(sent()).toEqual([]);
});

test('after a lost answer the same transfer can be repeated, though the balance may have paid for it', async () => {
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

test('a transfer that arrived while the sheet was open for somebody else can be made once more', async () => {
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

test('what was refused is no repeat: it is measured by the balance, and sent anew', async () => {
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

test('being asked to wait says nothing of a lost answer before: it is still the same transfer', async () => {
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

test('the recipient is looked up and named before anything is sent', async () => {
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

test('an address is asked about as it was typed, and nobody is looked up', async () => {
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

test('nobody is asked about a name that no user has', async () => {
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
