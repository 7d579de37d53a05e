import { render } from '@testing-library/react';
import { expect, test } from 'vitest';
import { BalanceCard } from './balance-card.tsx';

const bought = {
  balance: '125',
  held: '0',
  available: '125',
  given: '0',
  sendable: '125',
  next_expiry: null,
};
const ending = {
  ...bought,
  given: '100',
  next_expiry: { amount: '10', at: '2030-01-31T00:00:00.000Z' },
};
const text = (data: typeof bought | typeof ending) =>
  render(
    <BalanceCard
      query={{
        data,
        error: null,
        isError: false,
        isFetching: false,
        errorUpdateCount: 0,
        dataUpdatedAt: Date.now(),
        refetch: () => undefined,
      }}
    />,
  ).container.textContent;

test('shows the sendable credits, and why promotional credits cannot be sent and when they expire', () => {
  expect(text(bought)).toContain('Can be sent$5.00');
  expect(text(bought)).not.toContain('given to you');
  const given = text({ ...bought, given: '100', sendable: '25' });
  expect(given).toContain('They are spent first and cannot be sent.');
  expect(given).not.toContain('expires');
  expect(text(ending)).toMatch(/of that expires on 3[01] Jan 2030/);
});
