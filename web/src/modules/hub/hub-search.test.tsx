import { HUB_UNREACHABLE } from '@bakehouse/contract/hub/public';
import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { HubSearch } from './hub-search.tsx';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

test('shows immediately that the hub is unreachable, and retries on request', async () => {
  vi.mocked(call).mockRejectedValueOnce(new ApiError(HUB_UNREACHABLE, { status: 503, code: 'unavailable' }));
  const router = createRouter({
    routeTree: createRootRoute({ component: HubSearch }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  expect((await screen.findByRole('alert')).textContent).toContain(HUB_UNREACHABLE);
  expect(screen.getByRole('button', { name: 'Upload a model' })).toBeTruthy();
  expect(call).toHaveBeenCalledOnce();
  vi.mocked(call).mockResolvedValueOnce({ results: [], total_results: 0 });
  fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('No models found')).toBeTruthy();
});
