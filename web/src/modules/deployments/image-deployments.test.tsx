import { imageCalls, listImageDeployments } from '@bakehouse/contract/deployments/images';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { useActiveKontextDeployment, useUsableDeployments } from './own-image-models.ts';
import { useDeployments } from './use-deployments.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));

type Query = { only_running?: string; status?: string; cursor?: string; search?: string };

/** Mocks the API: `deployments` maps a query to its rows. */
function answer(endpoint: unknown, deployments: (query: Query) => object[], next: string | null = null) {
  vi.mocked(call).mockImplementation(async (asked: unknown, input?: { query?: unknown }) => {
    if (asked !== endpoint) throw new Error('unexpected endpoint');
    const query: Query = input?.query ?? {};
    return { deployments: deployments(query), next_cursor: query.cursor ? null : next };
  });
}

const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
);

beforeEach(() => queryClient.clear());

it('selects the newest usable Kontext deployment, otherwise a pending one, otherwise none', async () => {
  const coming = { pod_id: 'coming', kind: 'flux-kontext', status: 'deploying', created_at: '2026-01-01' };
  const running = { ...coming, pod_id: 'running', status: 'running' };
  const active = () => renderHook(() => useActiveKontextDeployment('u1'), { wrapper }).result;

  answer(imageCalls['flux-kontext'].list, ({ only_running }) => [only_running ? running : coming]);
  const usable = active();
  await waitFor(() => expect(usable.current?.pod_id).toBe('running'));
  queryClient.clear();
  answer(imageCalls['flux-kontext'].list, ({ status }) => (status === 'running' ? [coming] : []));
  const awaited = active();
  await waitFor(() => expect(awaited.current?.pod_id).toBe('coming'));
  queryClient.clear();
  answer(imageCalls['flux-kontext'].list, () => []);
  const none = active();
  await waitFor(() => expect(none.current).toBeNull());
});

it('offers every usable deployment, over all pages', async () => {
  answer(imageCalls['flux-kontext'].list, ({ cursor }) => [{ pod_id: cursor ? 'second' : 'first' }], 'first');
  const { result } = renderHook(() => useUsableDeployments('flux-kontext', 'u1'), { wrapper });
  await waitFor(() => expect(result.current.models.map(({ pod_id }) => pod_id)).toEqual(['first', 'second']));
});

it('loads the next page of all kinds with the same filters', async () => {
  const asked: Query[] = [];
  const deployments = (query: Query) => {
    asked.push(query);
    return [{ pod_id: query.cursor ? 'second' : 'first', status: 'running' }];
  };
  answer(listImageDeployments, deployments, 'first');
  const { result } = renderHook(() => useDeployments('image', { search: 'rye', status: 'all' }), { wrapper });
  await waitFor(() => expect(result.current.hasNextPage).toBe(true));
  await act(() => result.current.fetchNextPage());
  await waitFor(() => expect(result.current.hasNextPage).toBe(false));
  expect(result.current.data?.pages.flatMap((page) => page.deployments.map((one) => one.pod_id))).toEqual([
    'first',
    'second',
  ]);
  expect(asked).toEqual([
    { search: 'rye', include_terminated: 'true' },
    { search: 'rye', include_terminated: 'true', cursor: 'first' },
  ]);
});

it('reloads the cost of running deployments periodically', async () => {
  vi.useFakeTimers();
  try {
    let reads = 0;
    const deployments = () => [{ pod_id: 'p1', status: 'running', cost_so_far: String((reads += 1)) }];
    answer(listImageDeployments, deployments);
    const { result } = renderHook(() => useDeployments('image'), { wrapper });
    await act(() => vi.advanceTimersByTimeAsync(16_000));
    expect(result.current.data?.pages[0]?.deployments[0]?.cost_so_far).toBe('2');
  } finally {
    vi.useRealTimers();
  }
});
