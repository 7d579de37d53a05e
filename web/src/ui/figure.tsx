import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

type Props = {
  label: string;
  /** Secondary text below the value. */
  note?: ReactNode;
  /** Larger, on its own card, for a page's main figures. */
  card?: boolean;
  children: ReactNode;
};

/** A labelled figure. Must be inside a `dl`. */
export function Figure({ label, note, card = false, children }: Props) {
  return (
    <div className={cx('min-w-0', card && 'card px-4 py-3')}>
      <dt className="text-muted text-xs">{label}</dt>
      <dd className={card ? 'mt-1' : 'mt-0.5'}>
        <div
          className={cx(
            'tabular-nums [overflow-wrap:anywhere]',
            card ? 'font-semibold text-lg' : 'font-medium',
          )}
        >
          {children}
        </div>
        {note && <div className="text-compact text-muted tabular-nums">{note}</div>}
      </dd>
    </div>
  );
}
