import { type AnyRoute, LazyRoute, type RouteComponent } from '@tanstack/react-router';

/**
 * Loads a page's code when its route is first visited. The page is selected by name, so that the types of the
 * routes do not depend on those of the pages, which use them.
 */
export function lazyPage<Module>(
  load: () => Promise<Module>,
  name: keyof Module & string,
): () => Promise<LazyRoute<AnyRoute>> {
  // The id only serves the hooks of the lazy route, which pages do not use.
  return async () => new LazyRoute<AnyRoute>({ id: '', component: (await load())[name] as RouteComponent });
}
