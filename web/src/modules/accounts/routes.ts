import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { page } from '../../lib/page.ts';

/** Profile and API key. */
export const accountsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/profile',
      component: page(() => import('./profile-page.tsx'), 'ProfilePage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/api-key',
      component: page(() => import('./api-key-page.tsx'), 'ApiKeyPage'),
    }),
  ] as const;
