import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { page } from '../../lib/api/page.ts';

const documentationPage = page(() => import('./documentation-page.tsx'), 'DocumentationPage');

/** The product's own documentation, which anybody may read. */
export const documentationRoutes = <Public extends AnyRoute>(parent: Public) =>
  [
    createRoute({ getParentRoute: () => parent, path: '/docs', component: documentationPage }),
    createRoute({ getParentRoute: () => parent, path: '/docs/$', component: documentationPage }),
  ] as const;
