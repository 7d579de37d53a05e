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
      // Nothing waits for it: the page shows what it reads as it comes, and what has failed.
      // A pointer that passes over a link fetches code, and no data.
      loader: ({ preload }) => void (preload || readAhead().catch(() => undefined)),
      component: pageComponent(loadPage, 'DashboardPage'),
    }),
  ] as const;

const loadPage = () => import('./dashboard-page.tsx');

/** On a slow phone the page takes long to render: what it shows is on its way meanwhile. */
async function readAhead(): Promise<void> {
  const [{ readDashboard }, user] = await Promise.all([
    loadPage(),
    queryClient.ensureQueryData(sessionQuery),
  ]);
  if (user) readDashboard(user);
}
