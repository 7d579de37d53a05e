import { listApiKeys } from '@bakehouse/contract/api-keys';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { UserContext } from '../../accounts/session.ts';
import { KeyField } from './key-field.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

beforeEach(() => {
  cleanup();
  queryClient.clear();
  vi.mocked(call).mockImplementation(async (endpoint: unknown, input: unknown) => {
    expect([endpoint, input]).toEqual([
      listApiKeys,
      { params: { userId: 'ada' }, query: { include_revoked: 'true' } },
    ]);
    return {
      api_keys: [
        { id: 'web', name: 'Web app', revoked_at: null },
        { id: 'old', name: 'Nightly', revoked_at: '2026-11-20T08:00:00.000Z' },
      ],
    };
  });
});

const show = (value?: string) =>
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <KeyField value={value} onChange={() => undefined} />
      </UserContext>
    </QueryClientProvider>,
  );

test('offers every API key, including revoked ones, and requests no transfers', async () => {
  show();
  await userEvent.click(screen.getByRole('combobox', { name: 'API key' }));
  await screen.findByRole('option', { name: 'Nightly (revoked)' });
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([
    'All',
    'Web app',
    'Nightly (revoked)',
  ]);
});

test('keeps a selected key that is not in the list', async () => {
  show('gone');
  expect(await screen.findByText('The selected key')).toBeTruthy();
});
