import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';

/** The list of drafts and the page of each. */
export const draftsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/drafts',
      component: pageComponent(() => import('./drafts-page.tsx'), 'DraftsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/drafts/$id',
      validateSearch: parseDraft,
      component: pageComponent(() => import('./draft-page.tsx'), 'DraftPage'),
    }),
  ] as const;

/** `document`: shows only the rows of this document. */
function parseDraft({ document }: Record<string, unknown>): { document?: string } {
  return typeof document === 'string' ? { document } : {};
}
