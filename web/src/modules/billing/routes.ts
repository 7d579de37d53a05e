import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { matching, oneOf, searchSchema, text, uuid } from '../../lib/url-search.ts';

const date = matching(/^\d{4}-\d{2}-\d{2}$/);

export const transactionsSearch = searchSchema({ from: date, to: date, view: oneOf('statement'), key: uuid });

/** Routes for buying, history, and the operator's ledger. */
export const billingRoutes = <App extends AnyRoute>(app: App) =>
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
  ] as const;
