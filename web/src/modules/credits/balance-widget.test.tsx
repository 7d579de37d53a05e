import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { notify } from '../../ui/notify.ts';
import { useBalance } from './api.ts';
import { BalanceWidget } from './balance-widget.tsx';

vi.mock('./api.ts', () => ({ useBalance: vi.fn<typeof useBalance>() }));
vi.mock('../accounts/api.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('@tanstack/react-router', () => ({
  Link: ({ to, ...rest }: { to: string }) => <a href={to} {...rest} />,
}));

function balance(available: string): void {
  vi.mocked(useBalance).mockReturnValue({
    data: { balance: available, held: '0', available },
    isError: false,
  } as ReturnType<typeof useBalance>);
}

test('the focus stays where it is when the balance flashes', () => {
  balance('125');
  const { rerender } = render(<BalanceWidget />);
  const link = screen.getByRole('link', { name: /^Balance: \$5\.00/ });
  link.focus();
  balance('100');
  rerender(<BalanceWidget />);
  expect(screen.getByRole('link', { name: /^Balance: \$4\.00/ })).toBe(link);
  expect(document.activeElement).toBe(link);
});

test('a balance that could not be read is not on its way for ever', () => {
  vi.mocked(useBalance).mockReturnValue({ data: undefined, isError: true } as ReturnType<typeof useBalance>);
  render(<BalanceWidget />);
  expect(screen.getByRole('link', { name: /^Balance: not known$/ }).textContent).toContain('–');
});

test('each failed reading is said, however many there were before', () => {
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
