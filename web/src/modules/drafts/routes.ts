import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { searchSchema, text } from '../../lib/url-search.ts';

/** The list of drafts and the page of each. */
export const draftsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/drafts',
    }).lazy(lazyPage(() => import('./drafts-page.tsx'), 'DraftsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/drafts/$id',
      // `document`: shows only the rows of this document.
      validateSearch: searchSchema({ document: text }),
    }).lazy(lazyPage(() => import('./draft-page.tsx'), 'DraftPage')),
  ] as const;
