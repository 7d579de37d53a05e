import type { getLedger } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { UserContext } from '../../accounts/session.ts';
import { AccessRequestsPage } from '../access-requests-page.tsx';
import { ledgerQuery } from './ledger-calls.ts';
import { LedgerPage } from './ledger-page.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));

type Proof = NonNullable<ResponseOf<typeof getLedger>['proof']>;

const proof: Proof = {
  proved_at: '2030-01-02T09:05:00',
  sum_of_balances: '0',
  transfers: 12,
  open_holds: 1,
  sealed_transfers: 11,
  chain_head: null,
  checks: [{ name: 'sum', ok: true, detail: 'All 3 balances sum to 0 BGL' }],
};
const answer = (found: Proof | null, is_being_proved: boolean) =>
  vi.mocked(call).mockResolvedValue({ accounts: [], accounts_total: 3, proof: found, is_being_proved });

const open = (Page: () => React.ReactNode, is_operator: boolean) =>
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada', is_operator } as never}>
        <Page />
      </UserContext>
    </QueryClientProvider>,
  );

beforeEach(() => {
  cleanup();
  queryClient.clear();
  vi.mocked(call).mockReset();
});

test.each([
  ['the ledger', LedgerPage],
  ['the access requests', AccessRequestsPage],
])('%s is only for operators, and sends no request for others', (what, Page) => {
  open(Page, false);
  expect(screen.getByText(`Only operators can see ${what}`)).toBeTruthy();
  expect(call).not.toHaveBeenCalled();
});

test('shows when the checks were made, and if they are running again', async () => {
  answer(proof, true);
  open(LedgerPage, true);
  expect(await screen.findByText('All pass')).toBeTruthy();
  expect(screen.getByText('The books as of 2 Jan 2030, 09:05; they are being checked again.')).toBeTruthy();
  answer(proof, false);
  await act(() => queryClient.invalidateQueries({ queryKey: ledgerQuery.queryKey }));
  expect(await screen.findByText('The books as of 2 Jan 2030, 09:05.')).toBeTruthy();
});

test('before the first proof shows that the books are being checked', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  try {
    answer(null, true);
    open(LedgerPage, true);
    expect(await screen.findByText('The books are being checked')).toBeTruthy();
    expect(screen.queryByText('All pass')).toBeNull();
    expect(screen.getByText(/^3 accounts/)).toBeTruthy();
    answer(proof, false);
    await act(() => vi.advanceTimersByTimeAsync(3_000));
    expect(await screen.findByText('All pass')).toBeTruthy();
    const asked = vi.mocked(call).mock.calls.length;
    await act(() => vi.advanceTimersByTimeAsync(30_000));
    expect(vi.mocked(call).mock.calls.length).toBe(asked);
  } finally {
    vi.useRealTimers();
  }
});
