import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { matching, oneOf, searchSchema, text } from '../../lib/url-search.ts';

/** Routes of the operators' pages. */
export const operatorRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/operator/accounts',
      validateSearch: searchSchema({ q: text }),
    }).lazy(lazyPage(() => import('./accounts-page.tsx'), 'AccountsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/ledger',
    }).lazy(lazyPage(() => import('./ledger/ledger-page.tsx'), 'LedgerPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/prices',
    }).lazy(lazyPage(() => import('./prices/prices-page.tsx'), 'PricesPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/codes',
    }).lazy(lazyPage(() => import('./codes/codes-page.tsx'), 'CodesPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/access-requests',
      validateSearch: searchSchema({ state: oneOf('all') }),
    }).lazy(lazyPage(() => import('./access-requests-page.tsx'), 'AccessRequestsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/machines',
    }).lazy(lazyPage(() => import('./machines-page.tsx'), 'MachinesPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/messages',
      validateSearch: searchSchema({ status: oneOf('new', 'read', 'answered') }),
    }).lazy(lazyPage(() => import('./messages-page.tsx'), 'MessagesPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/audit',
      validateSearch: searchSchema({ user: text, noun: matching(/^[a-z_]{1,40}$/) }),
    }).lazy(lazyPage(() => import('./audit/audit-page.tsx'), 'AuditPage')),
  ] as const;
