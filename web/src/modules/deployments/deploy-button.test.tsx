import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { DeployButton } from './deploy-button.tsx';
import { useHourPrice } from './serving-prices.ts';

vi.mock('./serving-prices.ts', () => ({ useHourPrice: vi.fn<typeof useHourPrice>() }));
vi.mock('../accounts/api.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => () => Promise.resolve(),
}));

const retry = vi.fn<() => void>();

function show(price: Omit<ReturnType<typeof useHourPrice>, 'retry'>) {
  vi.mocked(useHourPrice).mockReturnValue({ ...price, retry });
  render(
    <QueryClientProvider client={queryClient}>
      <DeployButton modelId="m1" />
    </QueryClientProvider>,
  );
}
const button = () => screen.queryByRole<HTMLButtonElement>('button', { name: 'Deploy' });

it('waits for its price', () => {
  show({ price: undefined, failed: false });
  expect(button()?.disabled).toBe(true);
  expect(screen.getByText('Loading the price…')).toBeTruthy();
});

it('can be pressed once the price stands beside it', () => {
  show({ price: '1.25', failed: false });
  expect(button()?.disabled).toBe(false);
  expect(screen.getByText(/per hour/).textContent).toBe('$0.05 per hour');
});

it('says when there is no price, and tries again', async () => {
  show({ price: undefined, failed: true });
  expect(button()).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(retry).toHaveBeenCalledOnce();
});
