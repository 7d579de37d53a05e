import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { waitForReads } from '../../lib/api/query-client.ts';
import { lazyPage } from '../../lib/lazy-page.ts';

const loadPage = () => import('./dashboard-page.tsx');

/** The dashboard. */
export const homeRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/dashboard',
      loader: () => waitForReads(async () => (await loadPage()).readDashboard()),
    }).lazy(lazyPage(loadPage, 'DashboardPage')),
  ] as const;
