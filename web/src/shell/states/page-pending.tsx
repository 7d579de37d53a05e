import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';

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
