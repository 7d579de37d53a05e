import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { searchSchema, text } from '../../lib/url-search.ts';

/** Route of Invite friends. */
export const referralsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/invite',
      // Parameters of X's redirect.
      validateSearch: searchSchema({ code: text, state: text, error: text }),
    }).lazy(lazyPage(() => import('./invite-page.tsx'), 'InvitePage')),
  ] as const;
