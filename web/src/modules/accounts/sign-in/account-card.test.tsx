import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { broadcastSession } from '../../../lib/api/session-channel.ts';
import { sessionQuery } from '../session.ts';
import { AccountCard } from './account-card.tsx';
import { authRequest } from './auth-request.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('./auth-request.ts', () => ({ authRequest: vi.fn<typeof authRequest>() }));

test('leaves when another tab has signed in, and asks nothing when it has signed out', async () => {
  queryClient.setQueryData(sessionQuery.queryKey, null);
  vi.mocked(call).mockImplementation(async ({ path }) =>
    path.endsWith('/sign-in-methods') ? { methods: ['password'] } : { id: 'ada', data: 'bk_1' },
  );
  vi.mocked(authRequest).mockResolvedValue({ user: { id: 'ada' } });
  const root = createRootRoute();
  const landing = createRoute({ getParentRoute: () => root, path: '/', component: AccountCard });
  const dashboard = createRoute({
    getParentRoute: () => root,
    path: '/dashboard',
    component: () => <h1>Dashboard</h1>,
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider
        router={
          createRouter({
            routeTree: root.addChildren([landing, dashboard]),
            history: createMemoryHistory({ initialEntries: ['/'] }),
          }) as never
        }
      />
    </QueryClientProvider>,
  );
  await screen.findByRole('heading', { name: 'Sign in' });
  broadcastSession({ type: 'signed-out', userId: 'ada' });
  expect(authRequest).not.toHaveBeenCalled();
  broadcastSession({ type: 'signed-in', userId: 'ada' });
  expect(await screen.findByRole('heading', { name: 'Dashboard' })).toBeTruthy();
});
