import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';

/** The dashboard. */
export const homeRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/dashboard',
      component: pageComponent(() => import('./dashboard-page.tsx'), 'DashboardPage'),
    }),
  ] as const;
