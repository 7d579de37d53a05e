import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';

const documentationPage = lazyPage(() => import('./documentation-page.tsx'), 'DocumentationPage');

/** The public documentation of the product. */
export const documentationRoutes = <Public extends AnyRoute>(parent: Public) =>
  [
    createRoute({ getParentRoute: () => parent, path: '/docs' }).lazy(documentationPage),
    createRoute({ getParentRoute: () => parent, path: '/docs/$' }).lazy(documentationPage),
  ] as const;
