import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { page } from '../../lib/api/page.ts';

/** The operator's list of machines. */
export const machineRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/operator/machines',
      component: page(() => import('./machines-page.tsx'), 'MachinesPage'),
    }),
  ] as const;
