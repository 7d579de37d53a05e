import { Suspense, useEffect } from 'react';
import { loadable } from '../lib/loadable.tsx';
import { preloadLater } from '../lib/when-idle.ts';
import { Boundary, EmptyFallback } from './boundary.tsx';
import { useToasterRequested } from './toaster-loader.ts';

const Toaster = loadable(async () => (await import('./toaster.tsx')).Toaster);

/** Mount once. Empty until the first toast, but preloads its code so that errors can be shown offline. */
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
