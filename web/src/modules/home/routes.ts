import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { page } from '../../lib/api/page.ts';

/** The dashboard. */
export const homeRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/dashboard',
      component: page(() => import('./dashboard-page.tsx'), 'DashboardPage'),
    }),
  ] as const;
