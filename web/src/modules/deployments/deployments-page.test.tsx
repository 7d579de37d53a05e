import { QueryClientProvider } from '@tanstack/react-query';
import {
  type AnyRoute,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { UserContext } from '../accounts/session.ts';
import { deploymentsRoutes } from './routes.ts';

const RYE = {
  pod_id: 'p-rye',
  task: 'text',
  title: 'Rye',
  model_name: 'rye',
  base_model_title: 'Smol',
  status: 'running',
  device: 'CPU',
  context_tokens: 8192,
  vision: false,
  price_per_hour: '1',
  cost_so_far: '2',
  created_at: '2026-01-01T00:00:00.000Z',
  ready_at: '2026-01-01T00:01:00.000Z',
  last_request_at: null,
  terminated_at: null,
};
const SPELT = { ...RYE, pod_id: 'p-spelt', title: 'Spelt', model_name: 'spelt' };

let has: { pods: object[]; total: number };

function answer(url: string) {
  const { pathname } = new URL(url, 'http://localhost');
  if (pathname.endsWith('/stats'))
    return Response.json({
      ...{ total: has.total, running: 1, sleeping: 0 },
      cost: '2',
      requests: 3,
      completion_tokens: 9,
    });
  return Response.json({ pods: has.pods, next_cursor: null });
}

function open(address = '/my-deployments') {
  const root: AnyRoute = createRootRoute({ component: Outlet });
  const app = createRoute({ getParentRoute: () => root, id: 'app' });
  const router = createRouter({
    routeTree: root.addChildren([app.addChildren([...deploymentsRoutes(app)])]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada' } as never}>
        <RouterProvider router={router as never} />
      </UserContext>
    </QueryClientProvider>,
  );
  return router;
}

beforeAll(() => import('./deployments-page.tsx'));

beforeEach(() => {
  sessionStorage.clear();
  has = { pods: [], total: 0 };
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
  vi.stubGlobal('fetch', async (url: string) => answer(url));
});

afterEach(async () => {
  cleanup();
  await new Promise((resolve) => setTimeout(resolve));
  queryClient.clear();
  vi.unstubAllGlobals();
});

test('a user without deployments sees neither figures nor search', async () => {
  open();
  await screen.findByText('Nothing is deployed');
  expect(screen.queryByText('Tokens generated')).toBeNull();
  expect(screen.queryByLabelText('Search deployments')).toBeNull();
});

test('lists the deployments with figures and search', async () => {
  has = { pods: [SPELT, RYE], total: 4 };
  open();
  await screen.findByText('Tokens generated');
  expect(screen.getByLabelText('Search deployments')).toBeTruthy();
  expect(await screen.findByRole('link', { name: 'Spelt' })).toBeTruthy();
});
