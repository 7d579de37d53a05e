import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { UserContext } from '../../accounts/session.ts';
import { CheckoutCard } from './checkout-card.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));

const assign = vi.spyOn(location, 'assign');
const pay = () => screen.getByRole<HTMLButtonElement>('button', { name: /Continue to payment/ });
const isBusy = () => pay().getAttribute('aria-busy') === 'true';

const page = (
  <QueryClientProvider client={queryClient}>
    <UserContext value={{ id: 'ada' } as never}>
      <CheckoutCard />
    </UserContext>
  </QueryClientProvider>
);

beforeEach(async () => {
  cleanup();
  queryClient.clear();
  assign.mockReset();
  vi.mocked(call).mockReset().mockResolvedValue({ checkout_url: 'https://pay.example/1' });
  render(page);
  await userEvent.click(pay());
  await vi.waitFor(() => expect(assign).toHaveBeenCalledWith('https://pay.example/1'));
  expect(isBusy()).toBe(true);
});

const show = (persisted: boolean) =>
  act(() => {
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));
  });

test('Back from the payment page enables the button again', async () => {
  show(false);
  expect(isBusy()).toBe(true);
  show(true);
  await vi.waitFor(() => expect(isBusy()).toBe(false));
});

test('pays another amount', async () => {
  await userEvent.click(screen.getByRole('button', { name: /^\$5 ?125/ }));
  await vi.waitFor(() => expect(isBusy()).toBe(false));
});

test('keeps an amount with a decimal comma as typed, and does not pay it', async () => {
  vi.mocked(call).mockClear();
  const field = screen.getByLabelText<HTMLInputElement>('Another amount');
  await userEvent.clear(field);
  await userEvent.type(field, '1,50');
  await userEvent.click(pay());
  await screen.findByText('Use only digits, and a point for decimals, e.g. 0.02');
  expect(field.value).toBe('1,50');
  expect(call).not.toHaveBeenCalled();
});

test('does not redirect if the user left the page before the payment URL arrived', async () => {
  cleanup();
  assign.mockClear();
  let answer: (found: unknown) => void = () => undefined;
  vi.mocked(call).mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const { unmount } = render(page);
  await userEvent.click(pay());
  unmount();
  await act(async () => answer({ checkout_url: 'https://pay.example/2' }));
  await vi.waitFor(() => expect(queryClient.isMutating()).toBe(0));
  expect(assign).not.toHaveBeenCalled();
});
