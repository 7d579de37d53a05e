import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { type SearchOf, searchSchema, text, uuid } from '../../lib/url-search.ts';

/**
 * `model`: a deployment's id or the name of a starter model. `compare`: the model to compare it with, in a
 * conversation with the same id.
 */
const chatSearch = searchSchema({ model: text, conversation: uuid, compare: text });
export type ChatSearch = SearchOf<typeof chatSearch>;

export const chatRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({ getParentRoute: () => app, path: '/chat', validateSearch: chatSearch }).lazy(
      lazyPage(() => import('./chat-page.tsx'), 'ChatPage'),
    ),
  ] as const;
