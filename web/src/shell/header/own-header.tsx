import type { User } from '@bakehouse/contract/accounts';
import { Plus, SquarePen } from 'lucide-react';
import { Suspense } from 'react';
import { cx } from '../../lib/cx.ts';
import { useWindowWidth } from '../../lib/device/use-window-width.ts';
import { loadable } from '../../lib/loadable.tsx';
import { Avatar } from '../../modules/accounts/avatar.tsx';
import { BalanceWidget } from '../../modules/credits/balance-widget.tsx';
import { Boundary, EmptyFallback } from '../../ui/boundary.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { DeferredPopup } from '../../ui/deferred-popup.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { IdleMount } from '../idle-mount.tsx';

const LongWorkTray = loadable(async () => (await import('../long-work/long-work-tray.tsx')).LongWorkTray);
const CurrencySwitch = loadable(async () => (await import('./currency-switch.tsx')).CurrencySwitch);
const CreateMenu = loadable(async () => (await import('./create-menu.tsx')).CreateMenu);
const NotificationBell = loadable(
  async () => (await import('../../modules/notifications/notification-bell.tsx')).NotificationBell,
);
const UserMenu = loadable(async () => (await import('./user-menu.tsx')).UserMenu);

/** The user-specific part of the header: create, balance and account. */
export function Own({ user }: { user: User | undefined }) {
  const switchHasRoom = useWindowWidth('lg');
  return (
    <>
      {/* First in the row, so that appearing and disappearing moves nothing else. */}
      {user && (
        <IdleMount preload={LongWorkTray.preload}>
          <LongWorkTray />
        </IdleMount>
      )}
      <DeferredPopup
        kind="menu"
        code={CreateMenu}
        popup={(opener) => <CreateMenu trigger={opener} />}
        trigger={
          <button
            type="button"
            className={cx(
              buttonClass({ variant: 'primary' }),
              'max-sm:px-2 max-sm:text-[0.8125rem] max-[26rem]:w-9 max-[26rem]:px-0',
            )}
          >
            {/* Without its label, use another icon: the balance also has a plus. */}
            <Plus aria-hidden className="max-sm:hidden" />
            <SquarePen aria-hidden className="min-[26rem]:hidden" />
            <span className="max-[26rem]:sr-only">Create</span>
          </button>
        }
      />
      {switchHasRoom && (
        <Boundary fallback={EmptyFallback}>
          <Suspense fallback={<Skeleton className="h-8 w-[6.5rem] rounded-lg max-lg:hidden" />}>
            <CurrencySwitch />
          </Suspense>
        </Boundary>
      )}
      {user ? <BalanceWidget /> : <Skeleton className="h-9 w-24 rounded-lg" />}
      {user ? <Notifications /> : <Skeleton className="size-9 shrink-0 rounded-lg" />}
      {user ? <AccountMenu user={user} /> : <Skeleton className="size-9 shrink-0 rounded-full" />}
    </>
  );
}

function Notifications() {
  return (
    <IdleMount
      preload={NotificationBell.preload}
      fallback={<Skeleton className="size-9 shrink-0 rounded-lg" />}
    >
      <NotificationBell />
    </IdleMount>
  );
}

function AccountMenu({ user }: { user: User }) {
  return (
    <DeferredPopup
      kind="menu"
      code={UserMenu}
      popup={(opener) => <UserMenu trigger={opener} />}
      trigger={
        <button
          type="button"
          className="shrink-0 rounded-full transition-shadow hover:shadow-[0_0_0_2px_var(--accent-line)]"
        >
          <Avatar user={user} />
          <span className="sr-only">Account: {user.username}</span>
        </button>
      }
    />
  );
}
