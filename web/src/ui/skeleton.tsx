import { cx } from '../lib/cx.ts';

/** A placeholder for loading content; set its final size. Hidden from assistive technology. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <span
      aria-hidden
      className={cx('block animate-[shimmer_1.6s_ease-in-out_infinite] rounded-md bg-hover', className)}
    />
  );
}

/** Announces 'Loading' once for all skeletons inside. */
export function LoadingRegion({
  label = 'Loading',
  children,
  className,
}: {
  label?: string;
  children: React.ReactNode;
  className?: string;
}) {
  return (
    <div role="status" aria-label={label} className={className}>
      {children}
    </div>
  );
}

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
