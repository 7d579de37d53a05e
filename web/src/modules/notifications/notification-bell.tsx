import { useUser } from '../accounts/session.ts';
import { BellButton } from './bell-button.tsx';
import { useUnreadCount } from './notification-calls.ts';
import { NotificationPopover } from './notification-popover.tsx';
import { useMarkWatchedRead } from './use-mark-watched-read.ts';

/** The user's notifications, in a bell with the unread count. */
export function NotificationBell() {
  const user = useUser();
  // Preload the list so that it opens instantly.
  const watched = useMarkWatchedRead(user.id);
  const unread = Math.max(0, (useUnreadCount(user.id) ?? 0) - watched);
  return <NotificationPopover trigger={<BellButton unread={unread} />} unread={unread} />;
}
