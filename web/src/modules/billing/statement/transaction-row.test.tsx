import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../../lib/api/query-client.ts';
import { UserContext } from '../../accounts/session.ts';
import { generationOf } from '../../gallery/testing/generation-of.ts';
import { StatementTable } from './statement-table.tsx';
import { TransactionRow } from './transaction-row.tsx';
import type { Transaction } from './transaction-rows.ts';

const call = vi.hoisted(() => vi.fn());
vi.mock('../../../lib/api/api-client.ts', async (original) => ({ ...(await original<object>()), call }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  Link: ({ to, params, children }: { to: string; params: { id: string }; children: ReactNode }) => (
    <a href={to.replace('$id', params.id)}>{children}</a>
  ),
}));

beforeEach(() => {
  queryClient.clear();
  call.mockResolvedValue({ generations: [generationOf({ prompt: `A loaf\n${'of rye '.repeat(40)}` })] });
});

const charge = (generation_id: string): Transaction => ({
  ...{ transaction_id: 't1', transaction_date: '2026-11-20T08:00:00.000Z', transaction_type: 'payment' },
  ...{ amount: '0.5', description: 'Picture by Paris', status: 'completed', asset_name: 'Paris' },
  ...{ buyer_id: null, seller_id: null, pod_id: null, dataset_id: null, model_id: null, run_id: null },
  ...{ generation_id, transaction_hash: null, usage_window_id: null },
});
const opened = { has: () => false, toggle: () => undefined };

function show(shown: ReactNode) {
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>{shown}</UserContext>
    </QueryClientProvider>,
  );
}
const row = (transaction: Transaction) => (
  <TransactionRow row={{ kind: 'transaction', key: 't1', transaction }} last opened={opened} />
);

test('a charge for a picture shows its thumbnail and prompt on one line, and links to it', async () => {
  show(row(charge('g1')));
  const link = await screen.findByRole('link', { name: /^A loaf of rye of rye .*…$/ });
  expect(link.getAttribute('href')).toBe('/gallery/g1');
  expect(link.textContent.length).toBeLessThanOrEqual(100);
  expect(document.querySelector('img')?.getAttribute('loading')).toBe('lazy');
  expect(screen.getByText(/ · Picture by Paris$/)).toBeTruthy();
});

test('a charge for a deleted picture has its description and no link', async () => {
  show(row(charge('gone')));
  await screen.findByText(/ · deleted$/);
  expect(screen.getByText('Picture by Paris')).toBeTruthy();
  expect(screen.queryByRole('link')).toBeNull();
});

test('the statement shows the prompt below the description', async () => {
  show(<StatementTable rows={[{ transaction: charge('g1'), balanceAfter: '4.5' }]} />);
  await screen.findByText(/^A loaf of rye/);
  expect(screen.getByRole('link', { name: 'Picture by Paris' }).getAttribute('href')).toBe('/gallery/g1');
});
