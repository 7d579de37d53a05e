import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { page } from '../../lib/api/page.ts';
import type { AuditFilter } from './api.ts';

/** The audit log, for operators. */
export const auditRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/operator/audit',
      validateSearch: parseAudit,
      component: page(() => import('./audit-page.tsx'), 'AuditPage'),
    }),
  ] as const;

function parseAudit({ user, noun }: Record<string, unknown>): AuditFilter {
  return {
    ...(typeof user === 'string' && user !== '' && { user }),
    ...(typeof noun === 'string' && /^[a-z_]{1,40}$/.test(noun) && { noun }),
  };
}
