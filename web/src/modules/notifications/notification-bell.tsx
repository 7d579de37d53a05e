import { loadable } from '../../lib/loadable.tsx';
import { DeferredPopup } from '../../ui/deferred-popup.tsx';
import { useUser } from '../accounts/session.ts';
import { BellButton } from './bell-button.tsx';
import { useUnreadCount } from './notification-calls.ts';
import { useMarkWatchedRead } from './use-mark-watched-read.ts';

const NotificationPopover = loadable(
  async () => (await import('./notification-popover.tsx')).NotificationPopover,
);

/** The user's notifications, in a bell with the unread count. */
export function NotificationBell() {
  const user = useUser();
  // Preload the list so that it opens instantly.
  const watched = useMarkWatchedRead(user.id);
  const unread = Math.max(0, (useUnreadCount(user.id) ?? 0) - watched);
  return (
    <DeferredPopup
      kind="dialog"
      trigger={<BellButton unread={unread} />}
      code={NotificationPopover}
      popup={(trigger) => <NotificationPopover trigger={trigger} unread={unread} />}
    />
  );
}
