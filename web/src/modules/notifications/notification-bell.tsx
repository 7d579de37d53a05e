import { loadable } from '../../lib/loadable.tsx';
import { DeferredPopup } from '../../ui/deferred-popup.tsx';
import { useUser } from '../accounts/session.ts';
import { BellButton } from './bell-button.tsx';
import { useNotifications, useUnreadCount } from './notification-calls.ts';

const NotificationPopover = loadable(
  async () => (await import('./notification-popover.tsx')).NotificationPopover,
);

/** What the user is notified of, behind a bell that counts what is unread. */
export function NotificationBell() {
  const user = useUser();
  const unread = useUnreadCount(user.id) ?? 0;
  // Read before the list is opened, so that it is there at once.
  useNotifications(user.id);
  return (
    <DeferredPopup
      kind="dialog"
      trigger={<BellButton unread={unread} />}
      code={NotificationPopover}
      popup={(trigger) => <NotificationPopover trigger={trigger} unread={unread} />}
    />
  );
}
