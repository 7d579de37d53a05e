import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';

/** Profile, API keys, and the target of mailed links. */
export const accountsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/profile',
      // The reason that a provider returns if linking failed.
      validateSearch: ({ error }: { error?: unknown }): { error?: string } =>
        typeof error === 'string' ? { error } : {},
      component: pageComponent(() => import('./profile/profile-page.tsx'), 'ProfilePage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/api-key',
      component: pageComponent(() => import('./keys/api-key-page.tsx'), 'ApiKeyPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/verify-email',
      validateSearch: ({ token }: { token?: unknown }) => ({ token: typeof token === 'string' ? token : '' }),
      component: pageComponent(() => import('./verify-email-page.tsx'), 'VerifyEmailPage'),
    }),
  ] as const;
