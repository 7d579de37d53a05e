import { type GenerationState, generationStates } from '@bakehouse/contract/generations';
import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { type AnyRoute, createRoute } from '@tanstack/react-router';
import { pageComponent } from '../../lib/loadable.tsx';

/** The gallery and the pages of generations. */
export const generationsRoutes = <App extends AnyRoute>(app: App) =>
  [
    createRoute({
      getParentRoute: () => app,
      path: '/gallery',
      validateSearch: parseGallery,
      component: pageComponent(() => import('./gallery/gallery-page.tsx'), 'GalleryPage'),
    }),
    createRoute({
      getParentRoute: () => app,
      path: '/gallery/$id',
      component: pageComponent(() => import('./gallery/generation-page.tsx'), 'GenerationPage'),
    }),
  ] as const;

/** The page behind a share link, without a session. */
export const sharedRoutes = <Public extends AnyRoute>(parent: Public) =>
  [
    createRoute({
      getParentRoute: () => parent,
      path: '/share/$token',
      component: pageComponent(() => import('./sharing/shared-page.tsx'), 'SharedPage'),
    }),
  ] as const;

type GallerySearch = {
  search?: string;
  generator?: GeneratorName;
  state?: GenerationState;
  /** Ids of the compared generations. */
  compare?: string[];
};

function parseGallery({ search, generator, state, compare }: Record<string, unknown>): GallerySearch {
  const knownGenerator = generatorNames.find((one) => one === generator);
  const knownState = generationStates.find((one) => one === state);
  const ids = Array.isArray(compare) ? compare.filter((id) => typeof id === 'string') : [];
  return {
    ...(typeof search === 'string' && search !== '' && { search }),
    ...(knownGenerator && { generator: knownGenerator }),
    ...(knownState && { state: knownState }),
    ...(ids.length > 0 && { compare: ids }),
  };
}
