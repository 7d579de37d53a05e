import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { SpendCard } from './spend-card.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));
vi.mock('../../../accounts/api.ts', () => ({ useUser: () => ({ id: 'ada' }) }));
vi.mock('../../../../ui/chart.tsx', () => ({ Chart: () => null }));

test('says what each API key has cost, and sent', async () => {
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
