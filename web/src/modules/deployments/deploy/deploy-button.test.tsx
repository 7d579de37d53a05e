import { deployVllm, quoteVllm } from '@bakehouse/contract/deployments/text';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { consumeAwaitedEnd } from '../../../ui/long-work.ts';
import { notify } from '../../../ui/notify.ts';
import { workId } from '../kinds.ts';
import { DeployButton } from './deploy-button.tsx';

const navigate = vi.fn<(to: object) => Promise<void>>();
vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => navigate,
}));

/** The server's quote. */
let quote: () => Promise<{ price_per_hour: string }>;
const priceIs = (price_per_hour: string) => {
  quote = async () => ({ price_per_hour });
};
beforeEach(() => {
  queryClient.clear();
  navigate.mockReset();
  vi.mocked(call).mockReset();
  vi.mocked(call).mockImplementation((async (endpoint: unknown, input: { body: { cost_max?: string } }) => {
    if (endpoint === quoteVllm) return quote();
    const { price_per_hour } = await quote();
    if (input.body.cost_max === price_per_hour) return { pod_id: 'p1' };
    throw new ApiError('The price has changed', { status: 409, code: 'conflict', param: 'cost_max' });
  }) as unknown as typeof call);
});

function show() {
  render(
    <QueryClientProvider client={queryClient}>
      <DeployButton request={{ kind: 'text', modelId: 'm1' }} />
    </QueryClientProvider>,
  );
}
const button = () => screen.queryByRole<HTMLButtonElement>('button', { name: 'Deploy' });
const press = () => userEvent.click(screen.getByRole('button', { name: 'Deploy' }));
const deploys = () =>
  vi
    .mocked(call)
    .mock.calls.filter(([endpoint]) => endpoint === deployVllm)
    .map(([, input, options]) => ({ ...input, key: options?.idempotencyKey }));

it('waits for the price', () => {
  quote = () => new Promise(() => undefined);
  show();
  expect(button()?.disabled).toBe(true);
  expect(screen.getByText('Loading the price…')).toBeTruthy();
});

it('deploys at the displayed price', async () => {
  priceIs('1.25');
  show();
  expect((await screen.findByText(/per hour/)).textContent).toBe(
    '$0.05 per hour plus tokens; an hour is held',
  );
  await press();
  expect(deploys()).toEqual([
    { body: { model_id: 'm1', user_id: 'u1', cost_max: '1.25' }, key: expect.any(String) },
  ]);
});

it('navigates to the deployment', async () => {
  priceIs('1.25');
  show();
  await screen.findByText(/per hour/);
  await press();
  await vi.waitFor(() =>
    expect(navigate).toHaveBeenCalledExactlyOnceWith({
      to: '/my-deployments/$podId',
      params: { podId: 'p1' },
    }),
  );
});

it('does not navigate if the user has left the page, but shows a toast', async () => {
  const notified = vi.spyOn(notify, 'success').mockReturnValue(undefined);
  consumeAwaitedEnd(workId('p1'));
  priceIs('1.25');
  show();
  await screen.findByText(/per hour/);
  let answer: (quoted: { price_per_hour: string }) => void = () => {};
  quote = () => new Promise((resolve) => (answer = resolve));
  await press();
  await vi.waitFor(() => expect(deploys()).toHaveLength(1));
  cleanup();
  answer({ price_per_hour: '1.25' });
  await vi.waitFor(() =>
    expect(notified).toHaveBeenCalledExactlyOnceWith('Model deployment initiated successfully'),
  );
  expect(consumeAwaitedEnd(workId('p1'))).toBe(true);
  expect(navigate).not.toHaveBeenCalled();
  notified.mockRestore();
});

it('reloads and announces a changed price, and deploys at the new one', async () => {
  priceIs('1.25');
  show();
  await screen.findByText(/per hour/);
  priceIs('2.5');
  await press();
  await screen.findByText('The price has changed:');
  expect(screen.getByText(/per hour/).textContent).toBe(
    'The price has changed: $0.10 per hour plus tokens; an hour is held',
  );
  await press();
  const [first, second] = deploys();
  expect(second).toEqual({ body: { model_id: 'm1', user_id: 'u1', cost_max: '2.5' }, key: first?.key });
});

it('explains why there is no price, and retries', async () => {
  quote = () => Promise.reject(new ApiError('This model has no weights', { status: 409 }));
  show();
  await screen.findByText('This model has no weights');
  expect(button()).toBeNull();
  priceIs('1.25');
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await screen.findByText('$0.05');
});
