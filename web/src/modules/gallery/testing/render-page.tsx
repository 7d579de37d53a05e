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
import { render, screen } from '@testing-library/react';
import { queryClient } from '../../../lib/api/query-client.ts';
import { sessionQuery, UserContext } from '../../accounts/session.ts';
import { generateRoutes, ownGenerateRoutes } from '../../generate/routes.ts';
import { servedGeneratorsQuery } from '../../generate/served-generators.ts';
import { galleryRoutes, sharedRoutes } from '../routes.ts';

const user = { id: 'u1' } as never;

/** Renders a page of generators or generations for a signed-in user; Paris and Kontext are served. */
export async function renderPage(path: string) {
  queryClient.clear();
  sessionStorage.clear();
  queryClient.setQueryData(sessionQuery.queryKey, user);
  queryClient.setQueryData(servedGeneratorsQuery.queryKey, {
    paris: { served_by: ['own'], upstreams: [] },
    'flux-kontext': { served_by: ['own'], upstreams: [] },
  } as never);
  const root: AnyRoute = createRootRoute({ component: Outlet });
  const app = createRoute({ getParentRoute: () => root, id: 'app' });
  const shared = createRoute({ getParentRoute: () => root, id: 'public' });
  const router = createRouter({
    routeTree: root.addChildren([
      app.addChildren([...galleryRoutes(app), ...ownGenerateRoutes(app)]),
      shared.addChildren([...sharedRoutes(shared)]),
      ...generateRoutes(root),
    ]),
    history: createMemoryHistory({ initialEntries: [path] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={user}>
        <RouterProvider router={router as never} />
      </UserContext>
    </QueryClientProvider>,
  );
  await screen.findByRole('heading', { level: 1 });
  return router;
}
