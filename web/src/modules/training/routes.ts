import { type AnyRoute, createRoute, redirect } from '@tanstack/react-router';
import { page } from '../../lib/page.ts';

/** The list of runs and the page of each. */
export const trainingRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/llm-training',
      validateSearch: parseRuns,
      component: page(() => import('./runs-page.tsx'), 'RunsPage'),
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
      component: page(() => import('./run-page.tsx'), 'RunPage'),
    }),
  ] as const;

function parseRuns({ compare }: Record<string, unknown>): { compare?: string } {
  return typeof compare === 'string' ? { compare } : {};
}
