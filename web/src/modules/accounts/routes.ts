import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { searchSchema, text } from '../../lib/url-search.ts';

/** Profile, API keys, and the target of mailed links. */
export const accountsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/profile',
      // `error`: the provider's error code if linking failed.
      validateSearch: searchSchema({ error: text }),
    }).lazy(lazyPage(() => import('./profile/profile-page.tsx'), 'ProfilePage')),
    createRoute({
      getParentRoute: () => app,
      path: '/api-key',
    }).lazy(lazyPage(() => import('./keys/api-key-page.tsx'), 'ApiKeyPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/verify-email',
      validateSearch: searchSchema({ token: text }),
    }).lazy(lazyPage(() => import('./verify-email-page.tsx'), 'VerifyEmailPage')),
  ] as const;
