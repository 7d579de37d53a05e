import { Suspense, useEffect } from 'react';
import { loadable } from '../lib/loadable.tsx';
import { preloadLater } from '../lib/when-idle.ts';
import { Boundary, EmptyFallback } from './boundary.tsx';
import { useToasterRequested } from './toaster-loader.ts';

const Toaster = loadable(async () => (await import('./toaster.tsx')).Toaster);

/** Stands once in the app; empty until the first toast. Its code comes before anything can go wrong. */
export function ToastHost() {
  useEffect(() => preloadLater([Toaster.preload]), []);
  return useToasterRequested() ? (
    <Boundary fallback={EmptyFallback}>
      <Suspense>
        <Toaster />
      </Suspense>
    </Boundary>
  ) : null;
}
