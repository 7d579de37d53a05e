import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { matching, searchSchema, text } from '../../lib/url-search.ts';

/** The audit log, for operators. */
export const auditRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/operator/audit',
      validateSearch: searchSchema({ user: text, noun: matching(/^[a-z_]{1,40}$/) }),
    }).lazy(lazyPage(() => import('./audit-page.tsx'), 'AuditPage')),
  ] as const;
