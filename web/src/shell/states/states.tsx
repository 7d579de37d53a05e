import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { LoadError } from '../../lib/loadable.tsx';
import { useRetry } from '../../ui/boundary.tsx';
import { ErrorState, LoadFailure } from '../../ui/error-state.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';

/** Replaces a page that fails to render; the shell stays. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = useRetry({
    error,
    reset: () => {
      reset();
      void router.invalidate();
    },
  });
  if (error instanceof LoadError) return <LoadFailure error={error} onRetry={retry} wholePage />;
  return <ErrorState title="Something went wrong" error={error} onRetry={retry} wholePage />;
}

/** Placeholder while a page's code loads. */
export function PagePending() {
  return (
    <LoadingRegion label="Loading the page" className="mx-auto w-full max-w-6xl">
      <Skeleton className="h-7 w-48" />
      <Skeleton className="mt-2 h-5 w-80 max-w-full" />
      <Skeleton className="mt-8 h-64 w-full rounded-xl" />
    </LoadingRegion>
  );
}

/** Placeholder for the whole app while the session is loading. */
export function AppPending() {
  return (
    <div className="min-h-dvh">
      <div className="header-rule h-14" />
      <div className="px-4 pt-6 sm:px-8 sm:pt-8">
        <PagePending />
      </div>
    </div>
  );
}
