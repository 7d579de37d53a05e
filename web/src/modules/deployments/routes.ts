import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { waitForReads } from '../../lib/api/query-client.ts';
import { lazyPage } from '../../lib/lazy-page.ts';
import { searchSchema, text, uuid } from '../../lib/url-search.ts';
import { deploymentsSearch } from './list/deployments-search.ts';

const loadList = () => import('./deployments-page.tsx');

export const deploymentsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments',
      validateSearch: deploymentsSearch,
      loader: ({ location }) =>
        waitForReads(async () => (await loadList()).readTextDeployments(deploymentsSearch(location.search))),
    }).lazy(lazyPage(loadList, 'TextDeploymentsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/images',
      validateSearch: deploymentsSearch,
    }).lazy(lazyPage(loadList, 'ImageDeploymentsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/images/$podId',
    }).lazy(lazyPage(() => import('./deployment-page.tsx'), 'ImageDeploymentPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/$podId',
      validateSearch: searchSchema({ tab: text, conversation: uuid }),
    }).lazy(lazyPage(() => import('./deployment-page.tsx'), 'TextDeploymentPage')),
  ] as const;
