import type { RouteComponent } from '@tanstack/react-router';
import type { FunctionComponent } from 'react';
import { loadable } from '../loadable.tsx';

/** A page with a chunk of its own. It is named and not picked, so that the routes' types do not hang on those of the pages, which use them. */
export function page<Module>(load: () => Promise<Module>, name: keyof Module & string): RouteComponent {
  return loadable(async () => (await load())[name] as FunctionComponent);
}
