import type { User } from '@bakehouse/contract/accounts';
import { useWindowWidth } from '../../lib/device/use-window-width.ts';
import { BalanceWidget } from '../../modules/billing/balance-widget.tsx';
import { NotificationBell } from '../../modules/notifications/notification-bell.tsx';
import { Boundary, EmptyFallback } from '../../ui/boundary.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { LongWorkTray } from '../long-work/long-work-tray.tsx';
import { CommandPalette } from '../palette/command-palette.tsx';
import type { Palette } from '../palette/use-palette.ts';
import { CreateMenu } from './create-menu.tsx';
import { CurrencySwitch } from './currency-switch.tsx';
import { UserMenu } from './user-menu.tsx';

/** The user-specific part of the header: tasks, create, balance and account, and the command palette. */
export function OwnHeader({ user, palette }: { user: User | undefined; palette: Palette }) {
  const switchHasRoom = useWindowWidth('lg');
  return (
    <>
      {/* First in the row, so that appearing and disappearing moves nothing else. */}
      {user && (
        <Boundary fallback={EmptyFallback}>
          <LongWorkTray />
        </Boundary>
      )}
      <CreateMenu />
      {switchHasRoom && <CurrencySwitch />}
      {user ? <BalanceWidget /> : <Skeleton className="h-9 w-24 rounded-lg" />}
      {user ? (
        <Boundary fallback={EmptyFallback}>
          <NotificationBell />
        </Boundary>
      ) : (
        <Skeleton className="size-9 shrink-0 rounded-lg" />
      )}
      {user ? <UserMenu user={user} /> : <Skeleton className="size-9 shrink-0 rounded-full" />}
      {user && palette.begun !== null && <CommandPalette begun={palette.begun} onClose={palette.close} />}
    </>
  );
}
