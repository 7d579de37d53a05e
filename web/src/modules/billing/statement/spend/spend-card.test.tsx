import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { SpendCard } from './spend-card.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));
vi.mock('../../../accounts/session.ts', () => ({ useUser: () => ({ id: 'ada' }) }));
vi.mock('../../../../ui/chart.tsx', () => ({ Chart: () => null }));

beforeEach(() => {
  cleanup();
  queryClient.clear();
});

test('shows the spending and transfers of each API key', async () => {
  vi.mocked(call).mockResolvedValue({
    days: [{ date: '2026-11-20', use: 'llm_inference', amount: '25' }],
    keys: [
      { key_id: 'k1', key_name: 'Nightly job', amount: '25', sent: '0' },
      { key_id: 'k2', key_name: 'Tip jar', amount: '0', sent: '50' },
    ],
  });
  render(
    <QueryClientProvider client={queryClient}>
      <SpendCard />
    </QueryClientProvider>,
  );
  const keys = await screen.findByRole('region', { name: 'Spending by API key' });
  expect(keys.textContent).toMatch(/Nightly job\$1\.00Tip jar\$0\.00 and \$2\.00 sent$/);
});

test('requests at most a year, and shows its days', async () => {
  vi.mocked(call).mockResolvedValue({ days: [], keys: [] });
  render(
    <QueryClientProvider client={queryClient}>
      <SpendCard from="2000-01-01" to="2024-12-31" />
    </QueryClientProvider>,
  );
  await screen.findByText('Nothing was spent in this period.');
  expect(screen.getByText('Last 366 days: 1 Jan 2024 to 31 Dec 2024')).toBeTruthy();
  expect(vi.mocked(call).mock.lastCall?.[1]).toMatchObject({
    query: { from: '2024-01-01', to: '2024-12-31' },
  });
});
