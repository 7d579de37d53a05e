import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import type { AuditFilter } from './audit-page.tsx';

/** The audit log, for operators. */
export const auditRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/operator/audit',
      validateSearch: parseAudit,
      component: pageComponent(() => import('./audit-page.tsx'), 'AuditPage'),
    }),
  ] as const;

function parseAudit({ user, noun }: Record<string, unknown>): AuditFilter {
  return {
    ...(typeof user === 'string' && user !== '' && { user }),
    ...(typeof noun === 'string' && /^[a-z_]{1,40}$/.test(noun) && { noun }),
  };
}
