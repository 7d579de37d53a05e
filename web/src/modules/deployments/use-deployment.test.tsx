import { listDeployments } from '@bakehouse/contract/deployments/all';
import { getImageDeployment } from '@bakehouse/contract/deployments/images';
import { listVllm } from '@bakehouse/contract/deployments/text';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, renderHook, waitFor } from '@testing-library/react';
import type { PropsWithChildren } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { notify } from '../../ui/notify.ts';
import { UserContext } from '../accounts/session.ts';
import { useNewestDeployments } from './deployment-lists.ts';
import { workId } from './kinds.ts';
import {
  useDeployment,
  useDeploymentLogs,
  useDeploymentMetrics,
  useDeployments,
  useDeploymentsOf,
} from './use-deployments.ts';
import { useTerminate } from './use-terminate.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../lib/live/event-stream.ts', () => ({
  useFallbackInterval: vi.fn<typeof useFallbackInterval>(),
}));

const wrapper = ({ children }: PropsWithChildren) => (
  <QueryClientProvider client={queryClient}>
    <UserContext value={{ id: 'u1' } as never}>{children}</UserContext>
  </QueryClientProvider>
);

afterEach(() => {
  cleanup();
  queryClient.clear();
  vi.useRealTimers();
});

test.each(['', 'undefined'])('sends no request for a deployment with the id "%s"', async (podId) => {
  const { result } = renderHook(
    () => [useDeployment('text', podId), useDeploymentLogs(podId), useDeploymentMetrics(podId)],
    { wrapper },
  );
  await waitFor(() => expect(result.current.map(({ isError }) => isError)).toEqual([true, true, true]));
  expect(result.current[0]?.error).toMatchObject({ status: 404, code: 'not_found' });
  expect(call).not.toHaveBeenCalled();
});

test('opens an id of an unknown family', async () => {
  vi.mocked(call)
    .mockReset()
    .mockImplementation(async (endpoint: unknown) => {
      if (endpoint === getImageDeployment) return { pod_id: 'p1', kind: 'flux' };
      throw new ApiError('There is no such deployment', { status: 404, code: 'not_found' });
    });
  const { result } = renderHook(() => useDeployment('text', 'p1'), { wrapper });
  await waitFor(() => expect(result.current.data?.kind).toBe('flux'));
});

const useDashboard = () => void useNewestDeployments('u1');
const useModelPage = () => void useDeploymentsOf('m1');
const useListWithCosts = () => void useDeployments('text');

const readers = {
  dashboard: useDashboard,
  'page of a model': useModelPage,
  'list with costs': useListWithCosts,
};

test.each([
  ['dashboard', 'up', 1],
  ['page of a model', 'up', 1],
  ['list with costs', 'up', 5],
  ['dashboard', 'down', 13],
  ['list with costs', 'down', 13],
] as const)(
  'a %s with its event stream %s reads the deployments %i times a minute',
  async (reader, stream, times) => {
    vi.useFakeTimers();
    vi.mocked(useFallbackInterval).mockImplementation((ms) => (stream === 'up' ? false : ms));
    const running = {
      pod_id: 'p1',
      status: 'running',
      reason: '',
      stop_reason: null,
      ready_at: '2026-01-01',
      terminated_at: null,
    };
    vi.mocked(call)
      .mockReset()
      .mockResolvedValue({ pods: [running], deployments: [], next_cursor: null });
    renderHook<unknown, unknown>(readers[reader], { wrapper });
    await act(() => vi.advanceTimersByTimeAsync(61_000));
    const lists = vi
      .mocked(call)
      .mock.calls.filter(([endpoint]) => [listDeployments, listVllm].some((list) => list === endpoint));
    expect(lists).toHaveLength(times);
  },
);

test.each([
  ['text', 'Crumb was terminated'],
  ['flux', 'FLUX deployment terminated successfully!'],
  ['paris', 'Paris deployment terminated successfully!'],
] as const)('terminating a %s deployment from anywhere shows that and its cost', async (kind, title) => {
  const success = vi
    .spyOn(notify, 'success')
    .mockClear()
    .mockImplementation(() => undefined);
  vi.mocked(call).mockReset().mockResolvedValue({ pod_id: 'p1', title: 'Crumb', cost_so_far: '5' });
  const { result } = renderHook(useTerminate, { wrapper });
  act(() => result.current.mutate({ kind, pod_id: 'p1' }));
  await waitFor(() =>
    expect(success).toHaveBeenCalledExactlyOnceWith(title, {
      // Shares the long work's toast id, so the user sees one toast.
      id: workId('p1'),
      description: 'You were charged $0.20.',
    }),
  );
});
