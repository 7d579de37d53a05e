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
