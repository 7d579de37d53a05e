import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { page } from '../../lib/page.ts';

/** Buying, history, and the operator’s ledger. */
export const creditsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/buy-bagels',
      component: page(() => import('./buy-credits-page.tsx'), 'BuyCreditsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/transactions',
      validateSearch: parseTransactions,
      component: page(() => import('./transactions-page.tsx'), 'TransactionsPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/ledger',
      component: page(() => import('./ledger-page.tsx'), 'LedgerPage'),
    }),
  ] as const;

type TransactionsSearch = { from?: string; to?: string; view?: 'statement' };

function parseTransactions({ from, to, view }: Record<string, unknown>): TransactionsSearch {
  return {
    ...(isDate(from) && { from }),
    ...(isDate(to) && { to }),
    ...(view === 'statement' && { view }),
  };
}

function isDate(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
}
