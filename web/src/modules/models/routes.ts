import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import { oneOf, searchSchema } from '../../lib/url-search.ts';
import { assetListSearch, assetPageParams } from '../assets/asset-search.ts';

/** Routes of the model list, model pages and restricted models. */
export const modelsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/model',
      validateSearch: assetListSearch,
      component: pageComponent(() => import('./models-page.tsx'), 'ModelsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/model/$id/description',
      validateSearch: searchSchema(assetPageParams),
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
      validateSearch: searchSchema({ state: oneOf('all') }),
      component: pageComponent(() => import('./restricted/access-requests-page.tsx'), 'AccessRequestsPage'),
    }),
  ] as const;
