import { generationStates } from '@bakehouse/contract/generations';
import { generatorNames } from '@bakehouse/contract/generators';
import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../lib/lazy-page.ts';
import { oneOf, searchSchema, text } from '../../lib/url-search.ts';

const gallerySearch = searchSchema({
  search: text,
  generator: oneOf(...generatorNames),
  state: oneOf(...generationStates),
  /** Ids of the compared generations. */
  compare: (ids): string[] | undefined =>
    Array.isArray(ids) && ids.length > 0 ? ids.filter((id) => typeof id === 'string') : undefined,
});

/** The gallery and the pages of generations. */
export const galleryRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/gallery',
      validateSearch: gallerySearch,
    }).lazy(lazyPage(() => import('./gallery/gallery-page.tsx'), 'GalleryPage')),
    createRoute({
      getParentRoute: () => app,
      path: '/gallery/$id',
    }).lazy(lazyPage(() => import('./gallery/generation-page.tsx'), 'GenerationPage')),
  ] as const;

/** The page behind a share link, without a session. */
export const sharedRoutes = <Public extends AnyRoute>(parent: Public) =>
  [
    createRoute({
      getParentRoute: () => parent,
      path: '/share/$token',
    }).lazy(lazyPage(() => import('./sharing/shared-page.tsx'), 'SharedPage')),
  ] as const;
