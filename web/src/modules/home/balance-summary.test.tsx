import { render } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { BalanceSummary } from './balance-summary.tsx';

vi.mock('../../ui/button.tsx', () => ({ ButtonLink: () => null, Button: () => null }));

const answered = <Data,>(data: Data) => ({
  data,
  error: null,
  isError: false,
  isFetching: false,
  errorUpdateCount: 0,
  dataUpdatedAt: 0,
  refetch: () => undefined,
});
const text = (
  held: string,
  amounts: string[],
  { available, isReturning } = { available: '100', isReturning: false },
) =>
  render(
    <BalanceSummary
      balance={answered({ available, held })}
      spend={answered({ days: amounts.map((amount) => ({ amount })) })}
      isReturning={isReturning}
    />,
  ).container.textContent;

test('shows the available amount once, with held and spent amounts, exactly', () => {
  expect(text('0', [])).toBe('Available now$4.00Held for running work$0.00Spent in 30 days$0.00');
  expect(text('25', ['12.5', '0.000001', '12.5'])).toMatch(
    /^Available now\$4\.00Held for running work\$1\.00Spent in 30 days\$1\.00/,
  );
});

test('the spent amount has a placeholder while loading, and a dash on failure', () => {
  const spent = (isError: boolean) =>
    render(
      <BalanceSummary
        balance={answered({ available: '100', held: '0' })}
        spend={{ ...answered({ days: [] }), data: undefined, isError }}
        isReturning={false}
      />,
    ).container.textContent;
  expect(spent(false)).toMatch(/Spent in 30 days$/);
  expect(spent(true)).toMatch(/Spent in 30 days–$/);
});

test('explains missing starting credits until the account has credits', () => {
  const why = /Starting credits are granted once per email address/;
  expect(text('0', [], { available: '0', isReturning: true })).toMatch(why);
  expect(text('0', [], { available: '0', isReturning: false })).not.toMatch(why);
  expect(text('0', [], { available: '25', isReturning: true })).not.toMatch(why);
});
