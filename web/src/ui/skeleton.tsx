import { cx } from '../lib/cx.ts';

/** A grey place for what is coming; give it the size of the real thing. Hidden from assistive technology. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <span
      aria-hidden
      className={cx('block animate-[shimmer_1.6s_ease-in-out_infinite] rounded-md bg-hover', className)}
    />
  );
}

/** Says 'Loading' once, around skeletons. */
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
