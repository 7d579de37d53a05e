import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';

/** Route of the operator's machine list. */
export const machineRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/operator/machines',
      component: pageComponent(() => import('./machines-page.tsx'), 'MachinesPage'),
    }),
  ] as const;
