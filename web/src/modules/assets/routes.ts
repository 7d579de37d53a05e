import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import { parseTabAndFile } from '../../lib/tab-search.ts';
import { parseAssetList } from './asset-list-search.ts';
import { parseRowsPlace, type RowsPlace } from './files/viewer/rows-place.ts';
import type { HistoryPlace } from './history/history-tab.tsx';

/** The list of datasets, and the page of each. */
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
  ] as const;

/** `query` is the last SQL query. */
function parseDatasetPage(
  search: Record<string, unknown>,
): { tab?: string; query?: string } & RowsPlace & HistoryPlace {
  const { query } = search;
  return {
    ...parseTabAndFile(search),
    ...parseRowsPlace(search),
    ...(typeof query === 'string' && query !== '' && { query }),
  };
}
