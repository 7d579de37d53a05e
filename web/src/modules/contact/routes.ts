import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';
import type { MessageStatus } from './message-calls.ts';

/** Users' messages, for operators. */
export const contactRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/operator/messages',
      validateSearch: parseMessages,
      component: pageComponent(() => import('./messages-page.tsx'), 'MessagesPage'),
    }),
  ] as const;

function parseMessages({ status }: Record<string, unknown>): { status?: MessageStatus } {
  return status === 'new' || status === 'read' || status === 'answered' ? { status } : {};
}
