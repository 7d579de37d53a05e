import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { searchSchema, text } from '../../lib/url-search.ts';
import { assetListSearch, assetPageParams } from './asset-search.ts';
import { rowsParams } from './files/viewer/rows-location.ts';

/** The list of datasets, and the page of each. */
export const datasetsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/dataset',
      validateSearch: assetListSearch,
    }).lazy(lazyPage(() => import('./datasets-page.tsx'), 'DatasetsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/dataset/$id/description',
      // `query`: the last SQL query.
      validateSearch: searchSchema({ ...assetPageParams, ...rowsParams, query: text }),
    }).lazy(lazyPage(() => import('./dataset-page.tsx'), 'DatasetPage')),
  ] as const;
