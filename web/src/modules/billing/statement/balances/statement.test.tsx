import { getBalance, listTransactions } from '@bakehouse/contract/credits';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen, within } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { currencyChoice } from '../../../../lib/format/currency.ts';
import { UserContext } from '../../../accounts/session.ts';
import { TransactionsPage } from '../transactions-page.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  createLink: () => () => null,
  useSearch: () => ({ view: 'statement', to: '2020-01-01' }),
  useNavigate: () => () => undefined,
}));
vi.mock('../spend/spend-card.tsx', () => ({ SpendCard: () => null }));
vi.mock('../period-totals.tsx', () => ({ PeriodTotals: () => null }));

const movement = (transaction_id: string, amount: string) => ({
  transaction_id,
  transaction_date: '2026-11-20T08:00:00.000Z',
  transaction_type: 'credit',
  amount,
  description: `Movement ${transaction_id}`,
  status: 'completed',
  transaction_hash: null,
  ...{ asset_name: null, run_id: null, pod_id: null, generation_id: null, model_id: null, dataset_id: null },
});

let movements: ReturnType<typeof movement>[];
let balance: string;
const asked = vi.fn<(query: unknown) => void>();
beforeEach(() => {
  cleanup();
  queryClient.clear();
  currencyChoice.set('BGL');
  movements = [movement('b', '2'), movement('a', '1')];
  balance = '3';
  asked.mockReset();
  vi.mocked(call).mockImplementation(async (endpoint: unknown, input: unknown) => {
    if (endpoint === getBalance) return { balance, available: balance, sendable: '0' };
    if (endpoint !== listTransactions) throw new Error('nobody asks for this');
    asked((input as { query: unknown }).query);
    return { transactions: movements, next_cursor: null, summary: {}, closing_balance: balance };
  });
});

function book() {
  movements = [movement('c', '3'), ...movements];
  balance = '6';
}

function show() {
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <TransactionsPage />
      </UserContext>
    </QueryClientProvider>,
  );
}

/** The balance after each movement, newest first. */
async function balances(): Promise<string[]> {
  const [, ...rows] = within(await screen.findByRole('region', { name: 'Statement' })).getAllByRole('row');
  return rows.map((row) => /\d+/.exec(row.lastElementChild?.textContent ?? '')?.[0] ?? '');
}

test('refetching only the balance does not change the statement', async () => {
  show();
  expect(await balances()).toEqual(['3', '1']);
  book();
  await act(() => queryClient.invalidateQueries({ queryKey: ['balance'] }));
  expect(await balances()).toEqual(['3', '1']);
  await act(() => queryClient.invalidateQueries({ queryKey: ['transaction'] }));
  expect(await balances()).toEqual(['6', '3', '1']);
});

test('reads up to the last day, once for lines and totals', async () => {
  show();
  expect(await balances()).toEqual(['3', '1']);
  expect(asked).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ to: '2020-01-01', time_zone: expect.any(String) }),
  );
});
