import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { page } from '../../lib/page.ts';
import { parseTabAndFile } from '../../lib/tab-search.ts';

/** The list of deployments and the page of each. */
export const deploymentsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments',
      validateSearch: parseDeployments,
      component: page(() => import('./deployments-page.tsx'), 'DeploymentsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/$podId',
      validateSearch: parseTabAndFile,
      component: page(() => import('./deployment-page.tsx'), 'DeploymentPage'),
    }),
  ] as const;

function parseDeployments({ ended }: Record<string, unknown>): { ended?: boolean } {
  return ended === true ? { ended } : {};
}
