import { runFilters } from '@bakehouse/contract/runs';
import { type AnyRoute, createRoute, redirect } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import { oneOf, searchSchema, text } from '../../lib/url-search.ts';

export const runsSearch = searchSchema({
  search: text,
  state: oneOf(...runFilters),
  sort: oneOf('title'),
  compare: text,
});

/** Routes of the run lists and the run page. */
export const trainingRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/llm-training',
      validateSearch: runsSearch,
      component: pageComponent(() => import('./runs/runs-page.tsx'), 'RunsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/diffusion-training',
      validateSearch: runsSearch,
      component: pageComponent(() => import('./runs/runs-page.tsx'), 'DiffusionTrainingPage'),
    }),
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
      component: pageComponent(() => import('./runs/run-page.tsx'), 'RunPage'),
    }),
  ] as const;
