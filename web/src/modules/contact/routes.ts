import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { oneOf, searchSchema } from '../../lib/url-search.ts';

/** Users' messages, for operators. */
export const contactRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/operator/messages',
      validateSearch: searchSchema({ status: oneOf('new', 'read', 'answered') }),
    }).lazy(lazyPage(() => import('./messages-page.tsx'), 'MessagesPage')),
  ] as const;
