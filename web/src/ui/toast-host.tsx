import { lazy, Suspense } from 'react';
import { useToasterWanted } from './toaster-loader.ts';

const Toaster = lazy(() => import('./toaster.tsx'));

/** Stands once in the app; empty until the first toast. */
export function ToastHost() {
  return useToasterWanted() ? (
    <Suspense>
      <Toaster />
    </Suspense>
  ) : null;
}
