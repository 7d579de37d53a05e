import { createLink } from '@tanstack/react-router';
import { cva, type VariantProps } from 'class-variance-authority';
import { LoaderCircle } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cx } from '../lib/cx.ts';

/** Returns the button styles, also for other elements, such as links and menu triggers. */
export const buttonClass = cva(
  [
    'inline-flex shrink-0 items-center justify-center whitespace-nowrap font-medium select-none transition-colors duration-100',
    'disabled:opacity-50 aria-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0',
  ],
  {
    variants: {
      variant: {
        primary: 'bg-accent text-accent-ink hover:bg-accent-hover',
        secondary: 'bg-surface text-ink shadow-card hover:bg-subtle data-popup-open:bg-subtle',
        ghost: 'text-muted hover:bg-hover hover:text-ink data-popup-open:bg-hover data-popup-open:text-ink',
        danger: 'bg-bad text-surface hover:bg-bad-hover',
      },
      size: {
        sm: 'h-7 gap-1.5 rounded-md px-2.5 text-compact',
        md: 'h-9 gap-2 rounded-lg px-3.5',
        lg: 'h-11 gap-2 rounded-lg px-5 text-lead',
        icon: 'size-9 rounded-lg',
        'icon-sm': 'size-7 rounded-md',
      },
    },
    defaultVariants: { variant: 'secondary', size: 'md' },
  },
);

export type ButtonLook = VariantProps<typeof buttonClass>;

type ButtonProps = ComponentProps<'button'> &
  ButtonLook & {
    /** Shows a spinner and ignores clicks. Keeps the width and the focus. */
    loading?: boolean;
  };

export function Button({
  variant,
  size,
  loading = false,
  className,
  children,
  onClick,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={loading ? 'button' : type}
      aria-disabled={loading || rest['aria-disabled']}
      aria-busy={loading || undefined}
      className={cx(buttonClass({ variant, size }), loading && 'relative', className)}
      onClick={loading ? (event) => event.preventDefault() : onClick}
    >
      {loading ? (
        <>
          <span className="inline-flex items-center gap-[inherit] opacity-0">{children}</span>
          <LoaderCircle aria-hidden className="absolute animate-spin" />
        </>
      ) : (
        children
      )}
    </button>
  );
}

function PlainButtonLink({ variant, size, className, children, ...rest }: ComponentProps<'a'> & ButtonLook) {
  return (
    <a {...rest} className={cx(buttonClass({ variant, size }), className)}>
      {children}
    </a>
  );
}

/** A link to a route that looks like a button. */
export const ButtonLink = createLink(PlainButtonLink);
