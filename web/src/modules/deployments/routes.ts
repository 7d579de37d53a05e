import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import { parseTabAndFile } from '../../lib/tab-search.ts';
import { parseConversation, parseDeployments } from './list/deployments-search.ts';

export const deploymentsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments',
      validateSearch: parseDeployments,
      component: pageComponent(() => import('./deployments-page.tsx'), 'TextDeploymentsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/my-deployments/images',
      validateSearch: parseDeployments,
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
      validateSearch: (search: Record<string, unknown>) => ({
        ...parseTabAndFile(search),
        ...parseConversation(search),
      }),
      component: pageComponent(() => import('./deployment-page.tsx'), 'TextDeploymentPage'),
    }),
  ] as const;
