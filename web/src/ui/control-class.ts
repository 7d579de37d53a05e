import { cx } from '../lib/cx.ts';

/** Returns the styles shared by all text-like controls. */
export function controlClass(...more: (string | false | null | undefined)[]): string {
  return cx(
    'w-full rounded-lg border border-control-line/70 bg-surface text-ink transition-[border-color,box-shadow] duration-100',
    'placeholder:text-faint hover:border-control-line',
    'focus-visible:border-focus focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-focus/35',
    'disabled:cursor-not-allowed disabled:bg-subtle disabled:text-muted data-disabled:bg-subtle data-disabled:text-muted',
    'data-invalid:border-bad aria-invalid:border-bad',
    ...more,
  );
}
