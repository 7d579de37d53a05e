import { QueryClientProvider } from '@tanstack/react-query';
import { renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { checkServer } from '../../../lib/live/online.ts';
import { useDeploymentLogs, useDeploymentMetrics, useDeploymentStats } from '../use-deployments.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const fetched = vi.fn<typeof fetch>();
const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
);

beforeEach(() => {
  vi.mocked(call).mockResolvedValue({});
  vi.useFakeTimers();
  vi.stubGlobal('fetch', fetched);
});
afterEach(() => {
  queryClient.clear();
  vi.mocked(call).mockClear();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test.each<[string, () => unknown]>([
  ['stats', () => useDeploymentStats('u1')],
  ['the log', () => useDeploymentLogs('p1')],
  ['metrics', () => useDeploymentMetrics('p1')],
])(
  'nobody announces %s: they are asked for again and again, but not of a server that is away',
  async (_what, read) => {
    renderHook(read, { wrapper });
    await vi.advanceTimersByTimeAsync(31_000);
    expect(call).toHaveBeenCalledTimes(3);

    fetched.mockRejectedValue(new TypeError('Failed to fetch'));
    await checkServer();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call).toHaveBeenCalledTimes(3);

    fetched.mockResolvedValue(new Response(null));
    await checkServer();
    await vi.advanceTimersByTimeAsync(16_000);
    expect(call).toHaveBeenCalledTimes(4);
  },
);
