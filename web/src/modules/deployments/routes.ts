import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import { searchSchema, text, uuid } from '../../lib/url-search.ts';
import { deploymentsSearch } from './list/deployments-search.ts';

export const deploymentsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments',
      validateSearch: deploymentsSearch,
      component: pageComponent(() => import('./deployments-page.tsx'), 'TextDeploymentsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/images',
      validateSearch: deploymentsSearch,
      component: pageComponent(() => import('./deployments-page.tsx'), 'ImageDeploymentsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/images/$podId',
      component: pageComponent(() => import('./deployment-page.tsx'), 'ImageDeploymentPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/$podId',
      validateSearch: searchSchema({ tab: text, conversation: uuid }),
      component: pageComponent(() => import('./deployment-page.tsx'), 'TextDeploymentPage'),
    }),
  ] as const;
