import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';

type BackFromX = { code?: string; state?: string; error?: string };

/** Route of Invite friends. */
export const referralsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/invite',
      // Parameters of X's redirect.
      validateSearch: (search: Record<string, unknown>): BackFromX => ({
        ...(typeof search.code === 'string' && { code: search.code }),
        ...(typeof search.state === 'string' && { state: search.state }),
        ...(typeof search.error === 'string' && { error: search.error }),
      }),
      component: pageComponent(() => import('./invite-page.tsx'), 'InvitePage'),
    }),
  ] as const;
