import { UNREAD_COUNT_MAX } from '@bakehouse/contract/notifications';
import { Bell } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cx } from '../../lib/cx.ts';
import { buttonClass } from '../../ui/button.tsx';

const SHOWN_MAX = 9;

type Props = ComponentProps<'button'> & { unread: number };

/** The bell button with its badge, which shows 9+ above 9. */
export function BellButton({ unread, className, ...rest }: Props) {
  return (
    <button
      {...rest}
      type="button"
      aria-label={unread === 0 ? 'Notifications' : `Notifications, ${unreadText(unread)} unread`}
      className={cx(buttonClass({ variant: 'ghost', size: 'icon' }), 'relative max-sm:w-8', className)}
    >
      <Bell aria-hidden />
      {unread > 0 && (
        <span
          aria-hidden
          className="absolute top-0.5 right-0 flex h-4 min-w-4 items-center justify-center rounded-full bg-accent px-1 font-semibold text-2xs text-accent-ink tabular-nums ring-2 ring-canvas"
        >
          {unread > SHOWN_MAX ? `${SHOWN_MAX}+` : unread}
        </span>
      )}
    </button>
  );
}

/** The server stops counting at this number. */
function unreadText(unread: number): string {
  return unread < UNREAD_COUNT_MAX ? String(unread) : `${UNREAD_COUNT_MAX} or more`;
}
