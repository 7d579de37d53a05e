import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import { parseTabAndFile } from '../../lib/tab-search.ts';
import { type DeploymentsSearch, parseDeployments } from './list/deployments-search.ts';

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
function parseImages({
  deploy,
  ...search
}: Record<string, unknown>): DeploymentsSearch & { deploy?: string } {
  return { ...parseDeployments(search), ...(typeof deploy === 'string' && deploy !== '' && { deploy }) };
}
