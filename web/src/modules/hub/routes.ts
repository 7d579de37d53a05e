import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { oneOf, searchSchema, text } from '../../lib/url-search.ts';

/** `repo`: the repository whose details are open. */
export const modelHubSearch = searchSchema({
  tab: oneOf('clones'),
  type: oneOf('dataset'),
  query: text,
  repo: text,
});

/** The public hub. */
export const hubRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/model-hub',
      validateSearch: modelHubSearch,
    }).lazy(lazyPage(() => import('./model-hub-page.tsx'), 'ModelHubPage')),
  ] as const;
