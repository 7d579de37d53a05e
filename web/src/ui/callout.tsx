import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode, Ref } from 'react';
import { cx } from '../lib/cx.ts';

type Props = {
  tone?: 'info' | 'warn' | 'bad';
  title?: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
  className?: string;
  ref?: Ref<HTMLDivElement>;
};

const looks = {
  info: { box: 'bg-subtle', icon: <Info aria-hidden className="text-muted" /> },
  warn: { box: 'bg-warn-soft', icon: <TriangleAlert aria-hidden className="text-warn" /> },
  bad: { box: 'bg-bad-soft', icon: <CircleAlert aria-hidden className="text-bad" /> },
};

/** An inline notice. A `bad` callout is an alert: screen readers announce it immediately. */
export function Callout({ tone = 'info', title, children, action, className, ref }: Props) {
  return (
    <div
      ref={ref}
      role={tone === 'bad' ? 'alert' : undefined}
      className={cx(
        'flex gap-3 rounded-xl px-4 py-3 [&>svg]:mt-0.75 [&>svg]:size-4 [&>svg]:shrink-0',
        looks[tone].box,
        className,
      )}
    >
      {looks[tone].icon}
      <div className="min-w-0 flex-1 break-words">
        {title && <p className="font-medium">{title}</p>}
        {children && (
          <div className={cx('text-compact leading-5', title ? 'mt-0.5 text-muted' : 'text-ink')}>
            {children}
          </div>
        )}
      </div>
      {action}
    </div>
  );
}
