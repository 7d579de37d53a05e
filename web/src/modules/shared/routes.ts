import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';

/** What is shared by a link, which anybody opens who has it. */
export const sharedRoutes = <Public extends AnyRoute>(parent: Public) =>
  [
    createRoute({
      getParentRoute: () => parent,
      path: '/share/$token',
      component: pageComponent(() => import('./shared-page.tsx'), 'SharedPage'),
    }),
  ] as const;
