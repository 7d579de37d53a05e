import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { page } from '../../lib/api/page.ts';

/** Invite Friends. */
export const referralsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/invite',
      component: page(() => import('./invite-page.tsx'), 'InvitePage'),
    }),
  ] as const;
