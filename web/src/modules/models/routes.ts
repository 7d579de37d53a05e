import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { waitForReads } from '../../lib/api/query-client.ts';
import { lazyPage } from '../../lib/lazy-page.ts';
import { searchSchema } from '../../lib/url-search.ts';
import { assetListSearch, assetPageParams } from '../datasets/asset-search.ts';

const loadModelPage = () => import('./model-page.tsx');

/** Routes of the model list, model pages and restricted models. */
export const modelsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/model',
      validateSearch: assetListSearch,
    }).lazy(lazyPage(() => import('./models-page.tsx'), 'ModelsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/model/$id/description',
      validateSearch: searchSchema(assetPageParams),
      loader: ({ params }) => waitForReads(async () => (await loadModelPage()).readModel(params.id)),
    }).lazy(lazyPage(loadModelPage, 'ModelPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/model/source',
    }).lazy(lazyPage(() => import('./restricted/restricted-models-page.tsx'), 'RestrictedModelsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/model/source/$id/description',
    }).lazy(lazyPage(() => import('./restricted/restricted-model-page.tsx'), 'RestrictedModelPage')),
  ] as const;
