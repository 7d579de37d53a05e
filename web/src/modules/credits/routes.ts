import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';

/** Routes for buying, history, and the operator's ledger. */
export const creditsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/buy-bagels',
      validateSearch: ({ purchase }: Record<string, unknown>): { purchase?: string } =>
        typeof purchase === 'string' ? { purchase } : {},
      component: pageComponent(() => import('./buy/buy-credits-page.tsx'), 'BuyCreditsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/transactions',
      validateSearch: parseTransactions,
      component: pageComponent(() => import('./statement/transactions-page.tsx'), 'TransactionsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/codes',
      component: pageComponent(() => import('./codes/codes-page.tsx'), 'CodesPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/prices',
      component: pageComponent(() => import('./prices/prices-page.tsx'), 'PricesPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/ledger',
      component: pageComponent(() => import('./ledger/ledger-page.tsx'), 'LedgerPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/accounts',
      validateSearch: parseAccounts,
      component: pageComponent(() => import('./accounts-page.tsx'), 'AccountsPage'),
    }),
  ] as const;

function parseAccounts({ q }: Record<string, unknown>): { q?: string } {
  return typeof q === 'string' && q !== '' ? { q } : {};
}

type TransactionsSearch = { from?: string; to?: string; view?: 'statement'; key?: string };

function parseTransactions({ from, to, view, key }: Record<string, unknown>): TransactionsSearch {
  return {
    ...(isDate(from) && { from }),
    ...(isDate(to) && { to }),
    ...(view === 'statement' && { view }),
    ...(isId(key) && { key }),
  };
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
}

function isDate(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
}
