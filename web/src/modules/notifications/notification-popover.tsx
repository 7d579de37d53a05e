import { Popover } from '@base-ui/react/popover';
import { type ReactElement, useState } from 'react';
import { cx } from '../../lib/cx.ts';
import { Button } from '../../ui/button.tsx';
import { popupClass, popupLayer } from '../../ui/popup-class.ts';
import { useUser } from '../accounts/session.ts';
import { useMarkNotificationsRead, useNotifications } from './notification-calls.ts';
import { NotificationList } from './notification-list.tsx';

/** The list of notifications with its trigger. */
export function NotificationPopover({ trigger, unread }: { trigger: ReactElement; unread: number }) {
  const user = useUser();
  const notifications = useNotifications(user.id);
  const read = useMarkNotificationsRead(user.id);
  const [open, setOpen] = useState(false);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger render={trigger} />
      <Popover.Portal>
        <Popover.Positioner className={popupLayer} sideOffset={6} align="end" collisionPadding={8}>
          <Popover.Popup className={cx(popupClass, 'w-96 max-w-[calc(100vw-1rem)] p-0!')}>
            <div className="flex min-h-11 items-center justify-between gap-4 border-line border-b py-1.5 pr-2 pl-4">
              <Popover.Title className="font-medium text-compact">Notifications</Popover.Title>
              {unread > 0 && (
                <Button variant="ghost" size="sm" loading={read.isPending} onClick={() => read.mutate('')}>
                  Mark all as read
                </Button>
              )}
            </div>
            <NotificationList
              notifications={notifications}
              onOpen={({ notification_id, status }) => {
                setOpen(false);
                if (status === 'unread') read.mutate(notification_id);
              }}
            />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
