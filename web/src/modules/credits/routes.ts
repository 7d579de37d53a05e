import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { matching, oneOf, searchSchema, text, uuid } from '../../lib/url-search.ts';

const date = matching(/^\d{4}-\d{2}-\d{2}$/);

export const transactionsSearch = searchSchema({ from: date, to: date, view: oneOf('statement'), key: uuid });

/** Routes for buying, history, and the operator's ledger. */
export const creditsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/buy-bagels',
      validateSearch: searchSchema({ purchase: text }),
    }).lazy(lazyPage(() => import('./buy/buy-credits-page.tsx'), 'BuyCreditsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/transactions',
      validateSearch: transactionsSearch,
    }).lazy(lazyPage(() => import('./statement/transactions-page.tsx'), 'TransactionsPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/codes',
    }).lazy(lazyPage(() => import('./codes/codes-page.tsx'), 'CodesPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/prices',
    }).lazy(lazyPage(() => import('./prices/prices-page.tsx'), 'PricesPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/ledger',
    }).lazy(lazyPage(() => import('./ledger/ledger-page.tsx'), 'LedgerPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/operator/accounts',
      validateSearch: searchSchema({ q: text }),
    }).lazy(lazyPage(() => import('./accounts-page.tsx'), 'AccountsPage')),
  ] as const;
