import type { User } from '@bakehouse/contract/accounts';
import { Link, useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon, Plus, Search } from 'lucide-react';
import { cx } from '../lib/cx.ts';
import { loadable } from '../lib/loadable.tsx';
import { BalanceWidget } from '../modules/credits/balance-widget.tsx';
import { Button, ButtonLink, buttonClass } from '../ui/button.tsx';
import { Logo } from '../ui/logo.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { CurrencySwitch } from './currency-switch.tsx';
import { DeferredMenu } from './deferred-menu.tsx';

const CreateMenu = loadable(async () => (await import('./create-menu.tsx')).CreateMenu);
const UserMenu = loadable(async () => (await import('./user-menu.tsx')).UserMenu);

/** Fetches the code of the header's menus before one is opened. */
export function preloadMenus(): void {
  void CreateMenu.preload();
  void UserMenu.preload();
}

type Props = {
  /** Null for a visitor; undefined until the session is known. */
  user: User | null | undefined;
  onOpenMenu: () => void;
  onOpenPalette: () => void;
  /** The pointer or the focus is near the button. */
  preloadMenu: () => void;
  preloadPalette: () => void;
  /** The page has no sidebar, so the menu button stays at every width. */
  menuAlways: boolean;
};

/** The line at the top of every page. What is the user's own fills in when the session is known. */
export function Header({ user, onOpenMenu, onOpenPalette, preloadMenu, preloadPalette, menuAlways }: Props) {
  return (
    <header className="header-rule sticky top-0 z-30 h-14 bg-canvas">
      <div className="flex h-full items-center gap-1.5 px-3 sm:gap-2 sm:px-5">
        <Button
          variant="ghost"
          size="icon"
          aria-label="Menu"
          onClick={onOpenMenu}
          onPointerEnter={preloadMenu}
          onFocus={preloadMenu}
          className={cx('-ml-1.5', !menuAlways && 'xl:hidden')}
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
        {user !== null && <SearchButton onClick={onOpenPalette} preload={preloadPalette} />}
        <div className="ml-auto flex items-center gap-1.5 sm:gap-2.5">
          {user === null ? <WaysIn /> : <Own user={user} />}
        </div>
      </div>
    </header>
  );
}

/** What a visitor can do: come in, and be brought back here. */
function WaysIn() {
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
  return (
    <>
      <DeferredMenu
        menu={CreateMenu}
        trigger={
          <button type="button" className={cx(buttonClass({ variant: 'primary' }), 'max-sm:w-9 max-sm:px-0')}>
            <Plus aria-hidden />
            <span className="max-sm:sr-only">Create</span>
          </button>
        }
      />
      <CurrencySwitch className="max-lg:hidden" />
      {user ? <BalanceWidget /> : <Skeleton className="h-9 w-24 rounded-lg" />}
      {user ? <AccountMenu user={user} /> : <Skeleton className="size-9 shrink-0 rounded-full" />}
    </>
  );
}

function AccountMenu({ user }: { user: User }) {
  return (
    <DeferredMenu
      menu={UserMenu}
      trigger={
        <button
          type="button"
          className="flex size-9 shrink-0 items-center justify-center rounded-full bg-accent-soft font-semibold text-[0.8125rem] text-accent-text transition-shadow hover:shadow-[0_0_0_2px_var(--accent-line)]"
        >
          <span aria-hidden>{user.username.slice(0, 2).toUpperCase()}</span>
          <span className="sr-only">Account: {user.username}</span>
        </button>
      }
    />
  );
}

function SearchButton({ onClick, preload }: { onClick: () => void; preload: () => void }) {
  const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  return (
    <button
      type="button"
      onClick={onClick}
      onPointerEnter={preload}
      onFocus={preload}
      aria-keyshortcuts="Control+K Meta+K"
      className="flex h-9 items-center gap-2 rounded-lg px-2.5 text-muted transition-colors hover:bg-hover hover:text-ink sm:ml-3 sm:w-56 sm:border sm:border-line-strong sm:bg-surface sm:px-3 md:w-72"
    >
      <Search aria-hidden className="size-4 shrink-0" />
      <span className="flex-1 text-left max-sm:sr-only">
        Search<span className="sr-only"> pages, datasets and models</span>
      </span>
      <kbd aria-hidden className="rounded border border-line-strong px-1.5 font-sans text-2xs max-sm:hidden">
        {mac ? '⌘K' : 'Ctrl K'}
      </kbd>
    </button>
  );
}
