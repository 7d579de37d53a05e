import { type AnyRoute, LazyRoute, type RouteComponent } from '@tanstack/react-router';

/**
 * Loads a page's code when its route is first visited. Selects the page by name: pages use the types of the
 * routes, so the types of the routes must not depend on the pages.
 */
export function lazyPage<Module>(
  load: () => Promise<Module>,
  name: keyof Module & string,
): () => Promise<LazyRoute<AnyRoute>> {
  // Only the lazy route's hooks need its id, and pages do not use these hooks.
  return async () => new LazyRoute<AnyRoute>({ id: '', component: (await load())[name] as RouteComponent });
}
