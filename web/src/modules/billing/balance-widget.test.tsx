import { act, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { notify } from '../../ui/notify.ts';
import { BalanceWidget } from './balance-widget.tsx';
import { useBalance } from './credit-queries.ts';

vi.mock('./credit-queries.ts', () => ({ useBalance: vi.fn<typeof useBalance>() }));
vi.mock('../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('@tanstack/react-router', () => ({
  Link: ({ to, ...rest }: { to: string }) => <a href={to} {...rest} />,
}));

function balance(available: string): void {
  vi.mocked(useBalance).mockReturnValue({
    data: { balance: available, held: '0', available },
    isError: false,
  } as ReturnType<typeof useBalance>);
}

test('focus stays when the balance flashes', () => {
  balance('125');
  const { rerender } = render(<BalanceWidget />);
  const link = screen.getByRole('link', { name: /^Balance: \$5\.00/ });
  link.focus();
  balance('100');
  rerender(<BalanceWidget />);
  expect(screen.getByRole('link', { name: /^Balance: \$4\.00/ })).toBe(link);
  expect(document.activeElement).toBe(link);
});

test('a balance that could not be read is not shown as loading', () => {
  vi.mocked(useBalance).mockReturnValue({ data: undefined, isError: true } as ReturnType<typeof useBalance>);
  render(<BalanceWidget />);
  expect(screen.getByRole('link', { name: /^Balance: not known$/ }).textContent).toContain('–');
});

test('warns after each failed read', () => {
  const warning = vi.spyOn(notify, 'warning').mockImplementation(() => undefined);
  const fail = (errorUpdateCount: number) =>
    vi
      .mocked(useBalance)
      .mockReturnValue({ data: undefined, isError: true, errorUpdateCount } as ReturnType<typeof useBalance>);
  fail(1);
  const { rerender } = render(<BalanceWidget />);
  rerender(<BalanceWidget />);
  expect(warning).toHaveBeenCalledTimes(1);
  fail(2);
  rerender(<BalanceWidget />);
  expect(warning).toHaveBeenCalledTimes(2);
});

test.each([
  ['rises', '150', 'good'],
  ['falls', '100', 'bad'],
])('a balance that %s flashes for one second', (_how, next, colour) => {
  vi.useFakeTimers();
  balance('125');
  const { container, rerender } = render(<BalanceWidget />);
  const flash = () => container.querySelector('[aria-hidden][class*="flash"]')?.className;
  expect(flash()).toBeUndefined();
  balance(next);
  rerender(<BalanceWidget />);
  expect(flash()).toContain(`--${colour}-soft`);
  act(() => void vi.advanceTimersByTime(999));
  expect(flash()).toBeDefined();
  act(() => void vi.advanceTimersByTime(1));
  expect(flash()).toBeUndefined();
  vi.useRealTimers();
});

test('the plus next to the balance links to buying credits', () => {
  balance('125');
  render(<BalanceWidget />);
  expect(screen.getByRole('link', { name: 'Get credits' }).getAttribute('href')).toBe('/buy-bagels');
});

test('a stale balance shows a warning for 8 seconds with a Refresh button', () => {
  const warning = vi
    .spyOn(notify, 'warning')
    .mockReset()
    .mockImplementation(() => undefined);
  const refetch = vi.fn();
  vi.mocked(useBalance).mockReturnValue({
    ...{ data: { available: '125' }, isError: true, errorUpdateCount: 1 },
    refetch,
  } as never);
  render(<BalanceWidget />);
  const [text, options] = warning.mock.calls[0] ?? [];
  expect(text).toBe('Balance information may be outdated. Please refresh page to see current balance.');
  expect(options).toMatchObject({ durationMs: 8_000, action: { label: 'Refresh' } });
  options?.action?.onClick();
  expect(refetch).toHaveBeenCalledOnce();
});
