import { cx } from '../lib/cx.ts';

/** Logo and product name. */
export function Logo({ nameClassName }: { nameClassName?: string }) {
  return (
    <span className="flex items-center gap-2.5 font-semibold text-lead tracking-tight">
      <svg aria-hidden viewBox="0 0 32 32" className="size-7 shrink-0">
        <rect width="32" height="32" rx="8" className="fill-accent" />
        <path
          d="M7 19.5c0-5 4-8.5 9-8.5s9 3.5 9 8.5c0 2-1.3 3-3 3H10c-1.7 0-3-1-3-3Z"
          className="fill-accent-ink"
        />
        <path
          d="m11.5 14.5 2 3.2M16 13.3l2 3.6M20.4 14.3l1.7 2.9"
          className="fill-none stroke-2 stroke-accent"
          strokeLinecap="round"
        />
      </svg>
      <span className={cx(nameClassName)}>Bakehouse</span>
    </span>
  );
}
