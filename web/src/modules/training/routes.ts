import { type RunFilter, runFilters } from '@bakehouse/contract/runs';
import { type AnyRoute, createRoute, redirect } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';

/** Routes of the run lists and the run page. */
export const trainingRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/llm-training',
      validateSearch: parseRuns,
      component: pageComponent(() => import('./runs/runs-page.tsx'), 'RunsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/diffusion-training',
      validateSearch: parseRuns,
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

type RunsSearch = { search?: string; state?: RunFilter; sort?: 'title'; compare?: string };

function parseRuns({ search, state, sort, compare }: Record<string, unknown>): RunsSearch {
  const known = runFilters.find((one) => one === state);
  return {
    ...(typeof search === 'string' && search !== '' && { search }),
    ...(known && { state: known }),
    ...(sort === 'title' && { sort }),
    ...(typeof compare === 'string' && { compare }),
  };
}
