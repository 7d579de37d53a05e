import { QueryClientProvider } from '@tanstack/react-query';
import { renderHook, waitFor } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { useDeployment, useDeploymentLogs, useDeploymentMetrics } from './api.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

test.each(['', 'undefined'])('nothing is asked about a deployment with the id "%s"', async (podId) => {
  const { result } = renderHook(
    () => [useDeployment, useDeploymentLogs, useDeploymentMetrics].map((use) => use('text', podId)),
    {
      wrapper: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
    },
  );
  await waitFor(() => expect(result.current.map(({ isError }) => isError)).toEqual([true, true, true]));
  expect(result.current[0]?.error).toMatchObject({ status: 404, code: 'not_found' });
  expect(call).not.toHaveBeenCalled();
});
