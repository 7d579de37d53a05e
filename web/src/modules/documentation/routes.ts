import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';

const documentationPage = pageComponent(() => import('./documentation-page.tsx'), 'DocumentationPage');

/** The public documentation of the product. */
export const documentationRoutes = <Public extends AnyRoute>(parent: Public) =>
  [
    createRoute({ getParentRoute: () => parent, path: '/docs', component: documentationPage }),
    createRoute({ getParentRoute: () => parent, path: '/docs/$', component: documentationPage }),
  ] as const;
