import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import { parseTabAndFile } from '../../lib/tab-search.ts';
import { parseRowsPlace, type RowsPlace } from './files/viewer/rows-place.ts';

/** The lists of datasets and models, the page of each, and those of restricted models. */
export const assetsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/dataset',
      validateSearch: parseAssetList,
      component: pageComponent(() => import('./datasets-page.tsx'), 'DatasetsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/dataset/$id/description',
      validateSearch: parseDatasetPage,
      component: pageComponent(() => import('./dataset-page.tsx'), 'DatasetPage'),
    }),
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

function parseDatasetPage(search: Record<string, unknown>): { tab?: string } & RowsPlace {
  return { ...parseTabAndFile(search), ...parseRowsPlace(search) };
}

type AssetListSearch = { search?: string; tag?: string; sort?: 'title' | 'size' };

function parseAssetList({ search, tag, sort }: Record<string, unknown>): AssetListSearch {
  return {
    ...(typeof search === 'string' && search !== '' && { search }),
    // A tag such as 2026 is a number in the address.
    ...((typeof tag === 'string' || typeof tag === 'number') && tag !== '' && { tag: String(tag) }),
    ...((sort === 'title' || sort === 'size') && { sort }),
  };
}
