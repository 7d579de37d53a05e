import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

type Props = {
  title?: ReactNode;
  description?: ReactNode;
  actions?: ReactNode;
  className?: string;
  /** Removes the padding, for tables and lists. */
  flush?: boolean;
  children: ReactNode;
};

/** A titled surface; `title` is an h2. */
export function Card({ title, description, actions, className, flush = false, children }: Props) {
  return (
    <section className={cx('card min-w-0', className)}>
      {(title || actions) && (
        <header
          className={cx(
            'flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-5 pt-4',
            flush && 'pb-3',
          )}
        >
          <div className="min-w-0 flex-1 basis-40">
            {title && <h2 className="font-semibold">{title}</h2>}
            {description && <p className="mt-0.5 text-compact text-muted">{description}</p>}
          </div>
          {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
      )}
      <div className={flush ? undefined : cx('px-5 pb-5', title || actions ? 'pt-4' : 'pt-5')}>
        {children}
      </div>
    </section>
  );
}
