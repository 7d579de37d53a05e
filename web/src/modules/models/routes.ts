import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import { parseTabAndFile } from '../../lib/tab-search.ts';
import { parseAssetList } from '../assets/asset-list-search.ts';

/** Routes of the model list, model pages and restricted models. */
export const modelsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/model',
      validateSearch: parseAssetList,
      component: pageComponent(() => import('./models-page.tsx'), 'ModelsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/model/$id/description',
      validateSearch: parseTabAndFile,
      component: pageComponent(() => import('./model-page.tsx'), 'ModelPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/model/source',
      component: pageComponent(
        () => import('./restricted/restricted-models-page.tsx'),
        'RestrictedModelsPage',
      ),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/model/source/$id/description',
      component: pageComponent(() => import('./restricted/restricted-model-page.tsx'), 'RestrictedModelPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/access-requests',
      validateSearch: ({ state }: Record<string, unknown>): { state?: 'all' } =>
        state === 'all' ? { state } : {},
      component: pageComponent(() => import('./restricted/access-requests-page.tsx'), 'AccessRequestsPage'),
    }),
  ] as const;
