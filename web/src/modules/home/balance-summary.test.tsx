import { render } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { BalanceSummary } from './balance-summary.tsx';

vi.mock('../../ui/button.tsx', () => ({ ButtonLink: () => null, Button: () => null }));

const answered = <Data,>(data: Data) => ({
  data,
  error: null,
  isError: false,
  isFetching: false,
  dataUpdatedAt: 0,
  refetch: () => undefined,
});
const text = (held: string, amounts: string[]) =>
  render(
    <BalanceSummary
      balance={answered({ available: '100', held })}
      spend={answered({ days: amounts.map((amount) => ({ amount })) })}
    />,
  ).container.textContent;

test('the amount stands there once, with what is held of it and what was spent, exactly', () => {
  expect(text('0', [])).toBe('Available now$4.00Spent in 30 days$0.00');
  expect(text('25', ['12.5', '0.000001', '12.5'])).toMatch(
    /^Available now\$4\.00Held for running work\$1\.00Spent in 30 days\$1\.00/,
  );
});
