import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import { parseModelHub } from './model-hub-search.ts';

/** The public hub. */
export const hubRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/model-hub',
      validateSearch: parseModelHub,
      component: pageComponent(() => import('./model-hub-page.tsx'), 'ModelHubPage'),
    }),
  ] as const;
