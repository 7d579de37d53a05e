import { generatorNames } from '@bakehouse/contract/generators';
import { type Notification, UNREAD_COUNT_MAX } from '@bakehouse/contract/notifications';
import { useQueries } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { Bell } from 'lucide-react';
import { type ComponentProps, useEffect, useEffectEvent, useRef, useSyncExternalStore } from 'react';
import { cx } from '../../lib/cx.ts';
import { loadable } from '../../lib/loadable.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { DeferredPopup } from '../../ui/deferred-popup.tsx';
import { useUser } from '../accounts/session.ts';
import { generationThumbnailQuery } from '../generations/face/generation-thumbnail.tsx';
import { useMarkNotificationsRead, useNotifications, useUnreadCount } from './notification-calls.ts';

const SHOWN_MAX = 9;

/** Only notifications about finished work are marked as read automatically. */
const OF_WORK = /^(run|deployment|generation|clone)_/;

/** Only recent notifications can concern the current page. */
const LOOKED_AT = 10;

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

type Props = ComponentProps<'button'> & { unread: number };

/** The bell button with its badge, which shows 9+ above 9. */
function BellButton({ unread, className, ...rest }: Props) {
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
          className="absolute top-0.5 right-0 flex h-4 min-w-4 items-center justify-center rounded-full bg-accent px-1 font-semibold text-[0.625rem] text-accent-ink tabular-nums ring-2 ring-canvas"
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

/**
 * Marks notifications as read if the user is watching their subject: a task on its own page, or a picture on
 * its generator's page. Returns how many unread ones are affected, to exclude them from the count until then.
 */
function useMarkWatchedRead(userId: string): number {
  const pathname = useLocation({ select: (location) => location.pathname });
  const isVisible = useSyncExternalStore(onVisibilityChange, () => document.visibilityState === 'visible');
  const { mutate } = useMarkNotificationsRead(userId);
  const asked = useRef(new Set<string>());
  const newest = useNotifications(userId).data?.pages[0]?.notifications.slice(0, LOOKED_AT) ?? [];
  const unread = newest.filter(({ status, kind }) => status === 'unread' && OF_WORK.test(kind));
  const isMade = useMadeHere(userId, pathname, unread);
  const watched = isVisible ? unread.filter((one) => one.link === pathname || isMade(one)) : [];
  const ids = watched.map(({ notification_id: id }) => id);
  const read = useEffectEvent(() => {
    for (const id of ids) {
      if (asked.current.has(id)) continue;
      asked.current.add(id);
      mutate(id);
    }
  });
  const key = ids.join();
  useEffect(() => {
    if (key !== '') read();
  }, [key]);
  return ids.length;
}

/** Returns a predicate for generations made on this page, which shows its results. */
function useMadeHere(userId: string, pathname: string, unread: readonly Notification[]) {
  const isGenerator = generatorNames.some((name) => pathname === `/${name}`);
  const ids = isGenerator ? [...new Set(unread.flatMap(({ generation_id: id }) => id ?? []))] : [];
  const faces = useQueries({ queries: ids.map((id) => generationThumbnailQuery(userId, id)) });
  const here = new Set(
    faces.flatMap(({ data }) => (data && pathname === `/${data.generator}` ? data.id : [])),
  );
  return ({ generation_id: id }: Notification) => id !== null && here.has(id);
}

function onVisibilityChange(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}
