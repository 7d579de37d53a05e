import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { page } from '../../lib/page.ts';
import { parseTabAndFile } from '../../lib/tab-search.ts';

/** The lists of datasets and models, and the page of each. */
export const assetsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/dataset',
      validateSearch: parseAssetList,
      component: page(() => import('./datasets-page.tsx'), 'DatasetsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/dataset/$id/description',
      validateSearch: parseTabAndFile,
      component: page(() => import('./dataset-page.tsx'), 'DatasetPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/model',
      validateSearch: parseAssetList,
      component: page(() => import('./models-page.tsx'), 'ModelsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/model/$id/description',
      validateSearch: parseTabAndFile,
      component: page(() => import('./model-page.tsx'), 'ModelPage'),
    }),
  ] as const;

type AssetListSearch = { search?: string; sort?: 'title' | 'size' };

function parseAssetList({ search, sort }: Record<string, unknown>): AssetListSearch {
  return {
    ...(typeof search === 'string' && search !== '' && { search }),
    ...((sort === 'title' || sort === 'size') && { sort }),
  };
}
