import { LoadingRegion, Skeleton } from './skeleton.tsx';

/** Placeholder rows with the `rowHeight` of the final table. */
export function ListSkeleton({ rows = 3, rowHeight }: { rows?: number; rowHeight: number }) {
  return (
    <LoadingRegion className="divide-y divide-line pt-9">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="flex items-center gap-6 px-5" style={{ height: rowHeight }}>
          <Skeleton className="h-4 w-48 max-w-[50%]" />
          <Skeleton className="ml-auto h-4 w-20" />
        </div>
      ))}
    </LoadingRegion>
  );
}
