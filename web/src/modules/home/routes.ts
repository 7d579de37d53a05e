import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { queryClient } from '../../lib/api/query-client.ts';
import { pageComponent } from '../../lib/loadable.tsx';
import { sessionQuery } from '../accounts/session.ts';

/** The dashboard. */
export const homeRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/dashboard',
      // Does not block navigation: the page shows data and errors as they arrive. Hovering over a link
      // preloads code but no data.
      loader: ({ preload }) => void (preload || readAhead().catch(() => undefined)),
      component: pageComponent(loadPage, 'DashboardPage'),
    }),
  ] as const;

const loadPage = () => import('./dashboard-page.tsx');

/** Prefetches data, because the page renders slowly on a phone. */
async function readAhead(): Promise<void> {
  const [{ readDashboard }, user] = await Promise.all([
    loadPage(),
    queryClient.ensureQueryData(sessionQuery),
  ]);
  if (user) readDashboard(user);
}
