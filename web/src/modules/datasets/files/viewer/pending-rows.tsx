import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';

/** Placeholder rows. */
export function PendingRows() {
  return (
    <LoadingRegion className="flex flex-col gap-3 px-5 pb-5">
      {[0, 1, 2, 3, 4, 5].map((index) => (
        <Skeleton key={index} className="h-4 w-full" />
      ))}
    </LoadingRegion>
  );
}
