import { type DeploymentFilter, deploymentFilters } from '@bakehouse/contract/deployments';
import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import { parseTabAndFile } from '../../lib/tab-search.ts';

/** The list of deployments and the page of each. */
export const deploymentsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments',
      validateSearch: parseDeployments,
      component: pageComponent(() => import('./deployments-page.tsx'), 'DeploymentsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/images',
      validateSearch: parseImages,
      component: pageComponent(() => import('./images/image-deployments-page.tsx'), 'ImageDeploymentsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/images/$podId',
      component: pageComponent(() => import('./images/image-deployment-page.tsx'), 'ImageDeploymentPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/$podId',
      validateSearch: parseTabAndFile,
      component: pageComponent(() => import('./deployment-page.tsx'), 'DeploymentPage'),
    }),
  ] as const;

/** `deploy`: the model that is chosen in the dialog, which is open then. */
function parseImages({ deploy }: Record<string, unknown>): { deploy?: string } {
  return typeof deploy === 'string' && deploy !== '' ? { deploy } : {};
}

type DeploymentsSearch = { search?: string; status?: DeploymentFilter; ended?: boolean; sort?: 'title' };

function parseDeployments({ search, status, ended, sort }: Record<string, unknown>): DeploymentsSearch {
  const known = deploymentFilters.find((one) => one === status);
  return {
    ...(typeof search === 'string' && search !== '' && { search }),
    ...(known && { status: known }),
    ...(ended === true && { ended }),
    ...(sort === 'title' && { sort }),
  };
}
