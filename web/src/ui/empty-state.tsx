import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

type Props = {
  icon?: ReactNode;
  title: string;
  /** Explains the purpose of the page. */
  description?: ReactNode;
  /** The suggested first action. */
  action?: ReactNode;
  /** Smaller padding, for cards. */
  compact?: boolean;
};

export function EmptyState({ icon, title, description, action, compact = false }: Props) {
  return (
    <div className={cx('flex flex-col items-center px-6 text-center', compact ? 'pt-1 pb-4' : 'py-14')}>
      {icon && (
        <span className="mb-4 flex size-11 items-center justify-center rounded-xl bg-accent-soft text-accent-text [&_svg]:size-5">
          {icon}
        </span>
      )}
      <p className="font-semibold text-base">{title}</p>
      {description && <p className="mt-1.5 max-w-md text-balance text-muted">{description}</p>}
      {action && <div className="mt-5 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
