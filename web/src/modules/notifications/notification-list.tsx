import type { Notification } from '@bakehouse/contract/notifications';
import {
  Bell,
  CircleAlert,
  CircleCheck,
  CircleSlash,
  Coins,
  KeyRound,
  type LucideIcon,
  Mail,
  Users,
  Wallet,
} from 'lucide-react';
import type { MouseEvent } from 'react';
import { cx } from '../../lib/cx.ts';
import { showAmount, useShowAmount } from '../../lib/format/currency.ts';
import { formatDateTime } from '../../lib/format/format-time.ts';
import { goTo } from '../../lib/navigation.ts';
import { Pager } from '../../ui/pager.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/session.ts';
import { GenerationThumbnail, shortPrompt } from '../gallery/thumbnail/generation-thumbnail.tsx';
import { useGenerationThumbnail } from '../gallery/thumbnail/generation-thumbnail-query.ts';
import type { useNotifications } from './notification-calls.ts';

type Look = { icon: LucideIcon; tone: string };
const good: Look = { icon: CircleCheck, tone: 'text-good' };
const bad: Look = { icon: CircleAlert, tone: 'text-bad' };
/** Fallback for kinds that only a newer server knows. */
const plain: Look = { icon: Bell, tone: 'text-muted' };
const looks: Record<Notification['kind'], Look> = {
  run_completed: good,
  run_failed: bad,
  run_cancelled: { icon: CircleSlash, tone: 'text-muted' },
  deployment_ready: good,
  deployment_failed: bad,
  deployment_stopped: { icon: CircleAlert, tone: 'text-warn' },
  generation_completed: good,
  generation_failed: bad,
  clone_completed: good,
  clone_failed: bad,
  credits_received: { icon: Coins, tone: 'text-good' },
  credits_bought: { icon: Coins, tone: 'text-good' },
  credits_granted: { icon: Coins, tone: 'text-good' },
  referral_counted: { icon: Coins, tone: 'text-good' },
  balance_low: { icon: Wallet, tone: 'text-warn' },
  access_granted: { icon: KeyRound, tone: 'text-good' },
  access_refused: { icon: KeyRound, tone: 'text-warn' },
  asset_shared: { icon: Users, tone: 'text-accent-text' },
  payment_refused: { icon: CircleAlert, tone: 'text-warn' },
  message_received: { icon: Mail, tone: 'text-accent-text' },
  api_key_expiring: { icon: KeyRound, tone: 'text-warn' },
};

type Props = {
  notifications: ReturnType<typeof useNotifications>;
  /** Called when a notification is opened. */
  onOpen: (notification: Notification) => void;
};

/** Notifications, newest first, each linking to its subject. */
export function NotificationList({ notifications, onOpen }: Props) {
  return (
    <div className="max-h-[min(30rem,70dvh)] overflow-y-auto">
      <QueryView
        query={notifications}
        failed="Your notifications could not be loaded"
        pending={<Pending />}
        isEmpty={({ pages }) => pages[0]?.notifications.length === 0}
        empty={<p className="px-6 py-12 text-center text-muted">You don't have any notifications.</p>}
        compact
        flush
      >
        {({ pages }) => (
          <>
            <ul className="divide-y divide-line">
              {pages
                .flatMap((page) => page.notifications)
                .map((notification) => (
                  <li key={notification.notification_id}>
                    <Row notification={notification} onOpen={() => onOpen(notification)} />
                  </li>
                ))}
            </ul>
            <Pager pages={notifications} />
          </>
        )}
      </QueryView>
    </div>
  );
}

function Row({ notification, onOpen }: { notification: Notification; onOpen: () => void }) {
  const { kind, link, generation_id, status, created_at } = notification;
  const generation = useGenerationThumbnail(useUser().id, generation_id ?? null);
  const { icon: Icon, tone } = looks[kind] ?? plain;
  const message = useMessage(notification);
  const at = new Date(created_at);
  const follow = (event: MouseEvent) => {
    // Let the browser open new tabs and windows.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    onOpen();
    goTo(link);
  };
  return (
    <a
      href={link}
      onClick={follow}
      className="flex gap-3 px-4 py-3 outline-offset-[-2px] transition-colors last:rounded-b-xl hover:bg-hover"
    >
      <Icon aria-hidden className={cx('mt-0.5 size-4 shrink-0', tone)} />
      <span className="min-w-0 flex-1">
        <span
          className={cx('block break-words text-compact leading-5', status === 'unread' && 'font-medium')}
        >
          {status === 'unread' && <span className="sr-only">Unread: </span>}
          {message}
        </span>
        {generation_id && (
          <span className="block truncate text-muted text-xs leading-5">
            {generation === null ? 'Deleted' : generation ? shortPrompt(generation.prompt) : '\u00A0'}
          </span>
        )}
        <time dateTime={created_at} title={formatDateTime(at)} className="text-muted text-xs">
          <RelativeTime at={at} />
        </time>
      </span>
      {generation_id && <GenerationThumbnail generation={generation} className="size-10" />}
      {status === 'unread' && <span aria-hidden className="mt-2 size-1.5 shrink-0 rounded-full bg-accent" />}
    </a>
  );
}

/** Returns the message with its amount in the display currency; the server sends BGL. */
function useMessage({ message, amount }: Notification): string {
  const show = useShowAmount();
  return amount === null ? message : message.replace(showAmount(amount, 'BGL'), show(amount));
}

function Pending() {
  return (
    <LoadingRegion label="Loading notifications" className="divide-y divide-line">
      {Array.from({ length: 3 }, (_, index) => (
        <div key={index} className="flex flex-col gap-2 py-3.5 pr-4 pl-11">
          <Skeleton className="h-4 w-[85%]" />
          <Skeleton className="h-3 w-24" />
        </div>
      ))}
    </LoadingRegion>
  );
}
