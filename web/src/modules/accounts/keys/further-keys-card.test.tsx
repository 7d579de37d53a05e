import type { ApiKey } from '@bakehouse/contract/api-keys';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { UserContext } from '../session.ts';
import { FurtherKeysCard } from './further-keys-card.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));

const webAppKey: ApiKey = {
  id: 'web',
  name: 'Web app',
  scopes: ['everything'],
  for_web_app: true,
  created_at: '2026-11-01T10:00:00.000Z',
  last_used_at: null,
  expires_at: null,
  old_key_opens_until: null,
  revoked_at: null,
  budget: null,
};
const nightly: ApiKey = {
  ...webAppKey,
  id: 'nightly',
  name: 'Nightly',
  scopes: ['inference'],
  for_web_app: false,
  expires_at: '2001-01-01T00:00:00.000Z',
  budget: { amount: '250', period: 'month', spent: '50', held: '25', renews_at: null },
};

/** Returns what the first request with this method sent. */
function asked(method: string): unknown {
  const found = vi.mocked(call).mock.calls.find(([endpoint]) => endpoint.method === method);
  return found?.[1];
}

function answer(keys: ApiKey[]) {
  vi.mocked(call).mockImplementation((endpoint) =>
    Promise.resolve(
      endpoint.method === 'GET'
        ? { api_keys: keys }
        : endpoint.method === 'POST'
          ? { api_key: nightly, secret: 'bh_the-new-secret' }
          : nightly,
    ),
  );
}

function open(keys: ApiKey[]) {
  answer(keys);
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <FurtherKeysCard />
      </UserContext>
    </QueryClientProvider>,
  );
}

beforeEach(() => {
  cleanup();
  queryClient.clear();
  vi.mocked(call).mockReset();
});

test("refreshes a key's usage while the page is open", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  open([nightly]);
  await screen.findByText(/^Never used/);
  answer([{ ...nightly, last_used_at: new Date().toISOString() }]);
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  vi.useRealTimers();
  expect(await screen.findByText(/^Last used/)).toBeTruthy();
});

test('shows each further key with its scope, expiry and spending', async () => {
  open([webAppKey, nightly]);
  const row = within(await screen.findByRole('listitem'));
  expect(row.getByText('Nightly').textContent).toContain('Use models');
  expect(row.getByText('Expired')).toBeTruthy();
  expect(row.getByText(/^Never used · Created .* · Expired /)).toBeTruthy();
  expect(row.getByText(/spent/).textContent).toBe('$2.00 of $10.00 spent this month');
  expect(row.getByText(/held for running work/).textContent).toBe('$1.00 held for running work');
  expect(screen.queryByText('Web app')).toBeNull();
  expect(screen.queryByText('Budget used up')).toBeNull();
});

test('shows which key has used up its budget, including held credit', async () => {
  open([webAppKey, { ...nightly, budget: { ...nightly.budget!, spent: '225' } }]);
  expect(within(await screen.findByRole('listitem')).getByText('Budget used up')).toBeTruthy();
});

test('explains further keys if there are none, and shows a new one once', async () => {
  open([webAppKey]);
  expect(await screen.findByText('You have no other API keys yet')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Create key' }));
  const submit = () => screen.getAllByRole('button', { name: 'Create key' }).at(-1) as HTMLElement;
  await userEvent.click(submit());
  expect(screen.getByText('Name is required')).toBeTruthy();
  expect(document.activeElement).toBe(screen.getByLabelText('Name'));
  expect(asked('POST')).toBeUndefined();

  await userEvent.type(screen.getByLabelText('Name'), 'Nightly');
  await userEvent.type(screen.getByLabelText('Budget'), '10');
  await userEvent.click(submit());
  expect((await screen.findByLabelText('New API key')).textContent).toBe('bh_the-new-secret');
  expect(asked('POST')).toEqual({
    params: { userId: 'ada' },
    body: { name: 'Nightly', budget: { amount: '250', period: 'month' } },
  });
  await userEvent.keyboard('{Escape}');
  expect(screen.getByText('bh_the-new-secret')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Done' }));
  await vi.waitFor(() => expect(screen.queryByText('bh_the-new-secret')).toBeNull());
});

test('sends only the changed settings', async () => {
  open([nightly]);
  await userEvent.click(await screen.findByRole('button', { name: 'Change Nightly' }));
  await userEvent.clear(screen.getByLabelText('Budget'));
  await userEvent.keyboard('{Escape}');
  await userEvent.click(await screen.findByRole('button', { name: 'Keep editing' }));
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await vi.waitFor(() =>
    expect(asked('PATCH')).toEqual({ params: { keyId: 'nightly' }, body: { budget: null } }),
  );
  await vi.waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});

test('revoking asks for confirmation and explains the effect', async () => {
  open([nightly]);
  await userEvent.click(await screen.findByRole('button', { name: 'Revoke Nightly' }));
  const dialog = within(await screen.findByRole('alertdialog'));
  expect(dialog.getByText(/^Programs that use this key lose access immediately/)).toBeTruthy();
  expect(asked('DELETE')).toBeUndefined();
  await userEvent.click(dialog.getByRole('button', { name: 'Revoke' }));
  await vi.waitFor(() => expect(asked('DELETE')).toEqual({ params: { keyId: 'nightly' } }));
});

test('an expired key can be renamed, but not moved to another past day', async () => {
  open([nightly]);
  await userEvent.click(await screen.findByRole('button', { name: 'Change Nightly' }));
  const day = screen.getByLabelText<HTMLInputElement>('Last day');
  const before = day.value;
  fireEvent.change(day, { target: { value: '2001-02-02' } });
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(screen.getByText('Choose today or a later day')).toBeTruthy();
  expect(document.activeElement).toBe(day);

  fireEvent.change(day, { target: { value: before } });
  await userEvent.type(screen.getByLabelText('Name'), ' 2');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await vi.waitFor(() =>
    expect(asked('PATCH')).toEqual({ params: { keyId: 'nightly' }, body: { name: 'Nightly 2' } }),
  );
});
