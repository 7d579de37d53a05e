import { runFilters } from '@bakehouse/contract/runs';
import { type AnyRoute, createRoute, redirect } from '@tanstack/react-router';
import { waitForReads } from '../../lib/api/query-client.ts';
import { lazyPage } from '../../lib/lazy-page.ts';
import { oneOf, searchSchema, text } from '../../lib/url-search.ts';

export const runsSearch = searchSchema({
  search: text,
  state: oneOf(...runFilters),
  sort: oneOf('title'),
  compare: text,
});

const loadRunsPage = () => import('./runs/runs-page.tsx');
const loadRunPage = () => import('./runs/run-page.tsx');

/** Routes of the run lists and the run page. */
export const fineTuningRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/llm-training',
      validateSearch: runsSearch,
      loader: () => waitForReads(async () => (await loadRunsPage()).readRunStats('text')),
    }).lazy(lazyPage(loadRunsPage, 'RunsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/diffusion-training',
      validateSearch: runsSearch,
      loader: () => waitForReads(async () => (await loadRunsPage()).readRunStats('pictures')),
    }).lazy(lazyPage(loadRunsPage, 'DiffusionTrainingPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/runs',
      beforeLoad: () => {
        throw redirect({ to: '/llm-training', replace: true });
      },
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/runs/$id',
      validateSearch: searchSchema({ tab: text }),
      loader: ({ params }) => waitForReads(async () => (await loadRunPage()).readRun(params.id)),
    }).lazy(lazyPage(loadRunPage, 'RunPage')),
  ] as const;
