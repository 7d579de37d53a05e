import type { User } from '@bakehouse/contract/accounts';
import { Link, useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon, Plus, Search, SquarePen } from 'lucide-react';
import { Suspense } from 'react';
import { cx } from '../../lib/cx.ts';
import { useWindowWidth } from '../../lib/device/use-window-width.ts';
import { loadable } from '../../lib/loadable.tsx';
import { Avatar } from '../../modules/accounts/avatar.tsx';
import { BalanceWidget } from '../../modules/credits/balance-widget.tsx';
import { Boundary, EmptyFallback } from '../../ui/boundary.tsx';
import { Button, ButtonLink, buttonClass } from '../../ui/button.tsx';
import { DeferredPopup } from '../../ui/deferred-popup.tsx';
import { Logo } from '../../ui/logo.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { AfterPage } from '../after-page.tsx';
import { HeaderSearch } from '../search/header-search.tsx';

const LongWorkTray = loadable(async () => (await import('../long-work/long-work-tray.tsx')).LongWorkTray);
const CurrencySwitch = loadable(async () => (await import('./currency-switch.tsx')).CurrencySwitch);
const CreateMenu = loadable(async () => (await import('./create-menu.tsx')).CreateMenu);
const NotificationBell = loadable(
  async () => (await import('../../modules/notifications/notification-bell.tsx')).NotificationBell,
);
const UserMenu = loadable(async () => (await import('./user-menu.tsx')).UserMenu);

type Props = {
  /** Null for a visitor; undefined until the session is known. */
  user: User | null | undefined;
  menu: { open: () => void; isOpen: boolean; isWaiting: boolean };
  /** It goes on from what was typed in the search box. */
  onOpenPalette: (typed?: string) => void;
  /** The pointer or the focus is near the button. */
  preloadMenu: () => void;
  preloadPalette: () => void;
  /** The page has no sidebar, so the menu button stays at every width. */
  menuAlways: boolean;
};

/** The line at the top of every page. What is the user's own fills in when the session is known. */
export function Header({ user, menu, onOpenPalette, preloadMenu, preloadPalette, menuAlways }: Props) {
  const searchHasRoom = useWindowWidth('md');
  return (
    <header className="header-rule sticky top-0 z-30 h-14 bg-canvas">
      <div className="flex h-full items-center gap-0.5 px-2 sm:gap-2 sm:px-5">
        <Button
          variant="ghost"
          size="icon"
          aria-label="Menu"
          aria-haspopup="dialog"
          aria-expanded={menu.isOpen}
          aria-busy={menu.isWaiting || undefined}
          onClick={menu.open}
          onPointerEnter={preloadMenu}
          onFocus={preloadMenu}
          className={cx('-ml-1', !menuAlways && 'xl:hidden')}
        >
          <MenuIcon aria-hidden />
        </Button>
        <Link
          to={user === null ? '/' : '/dashboard'}
          className="rounded-lg"
          aria-label={user === null ? 'Bakehouse, start page' : 'Bakehouse, dashboard'}
        >
          <Logo nameClassName="max-md:hidden" />
        </Link>
        {user !== null && (
          <>
            {searchHasRoom && (
              <div className="ml-3 w-full max-w-80 max-md:hidden">
                <HeaderSearch signedIn={user !== undefined} onOpenPalette={onOpenPalette} />
              </div>
            )}
            <Button
              variant="ghost"
              size="icon"
              aria-label="Search"
              onClick={() => onOpenPalette()}
              onPointerEnter={preloadPalette}
              onFocus={preloadPalette}
              // Where there is no room the menu has it.
              className="max-[23.75rem]:hidden md:hidden"
            >
              <Search aria-hidden />
            </Button>
          </>
        )}
        <div className="ml-auto flex items-center gap-0.5 sm:gap-2.5">
          {user === null ? <SignInOptions /> : <Own user={user} />}
        </div>
      </div>
    </header>
  );
}

/** What a visitor can do: come in, and be brought back here. */
function SignInOptions() {
  const next = useLocation({ select: ({ href }) => href });
  return (
    <>
      <ButtonLink to="/" state={{ next }} variant="ghost">
        Sign in
      </ButtonLink>
      <ButtonLink to="/" search={{ form: 'sign-up' }} state={{ next }} variant="primary">
        Sign up
      </ButtonLink>
    </>
  );
}

/** What is the user's own: to create, to pay, to change. */
function Own({ user }: { user: User | undefined }) {
  const switchHasRoom = useWindowWidth('lg');
  return (
    <>
      {/* The first, so that nothing moves when it comes and goes. */}
      {user && (
        <AfterPage preload={LongWorkTray.preload}>
          <LongWorkTray />
        </AfterPage>
      )}
      <DeferredPopup
        kind="menu"
        code={CreateMenu}
        popup={(opener) => <CreateMenu trigger={opener} />}
        trigger={
          <button type="button" className={cx(buttonClass({ variant: 'primary' }), 'max-sm:w-9 max-sm:px-0')}>
            {/* Without its word it is no second plus beside the one at the balance. */}
            <Plus aria-hidden className="max-sm:hidden" />
            <SquarePen aria-hidden className="sm:hidden" />
            <span className="max-sm:sr-only">Create</span>
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
    <AfterPage
      preload={NotificationBell.preload}
      fallback={<Skeleton className="size-9 shrink-0 rounded-lg" />}
    >
      <NotificationBell />
    </AfterPage>
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
