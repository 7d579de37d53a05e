import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';

/** Route of the operator's machine list. */
export const machineRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/operator/machines',
    }).lazy(lazyPage(() => import('./machines-page.tsx'), 'MachinesPage')),
  ] as const;
