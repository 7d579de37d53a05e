import { Link } from '@tanstack/react-router';
import { Menu as MenuIcon, Plus, Search } from 'lucide-react';
import { lazy } from 'react';
import { cx } from '../lib/cx.ts';
import { useUser } from '../modules/accounts/api.ts';
import { BalanceWidget } from '../modules/credits/balance-widget.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import { Logo } from '../ui/logo.tsx';
import { CurrencySwitch } from './currency-switch.tsx';
import { DeferredMenu } from './deferred-menu.tsx';

const loadCreateMenu = () => import('./create-menu.tsx');
const CreateMenu = lazy(loadCreateMenu);
const loadUserMenu = () => import('./user-menu.tsx');
const UserMenu = lazy(loadUserMenu);

type Props = {
  onOpenMenu: () => void;
  onOpenPalette: () => void;
  /** The page has no sidebar, so the menu button stays at every width. */
  menuAlways: boolean;
};

export function Header({ onOpenMenu, onOpenPalette, menuAlways }: Props) {
  const user = useUser();
  return (
    <header className="sticky top-0 z-30 h-14 border-line border-b bg-canvas">
      <div className="flex h-full items-center gap-1.5 px-3 sm:gap-2 sm:px-5">
        <Button
          variant="ghost"
          size="icon"
          aria-label="Menu"
          onClick={onOpenMenu}
          className={cx('-ml-1.5', !menuAlways && 'xl:hidden')}
        >
          <MenuIcon aria-hidden />
        </Button>
        <Link to="/dashboard" className="rounded-lg" aria-label="Bakehouse, dashboard">
          <Logo nameClassName="max-md:hidden" />
        </Link>
        <SearchButton onClick={onOpenPalette} />
        <div className="ml-auto flex items-center gap-1.5 sm:gap-2.5">
          <DeferredMenu
            menu={CreateMenu}
            preload={() => void loadCreateMenu()}
            trigger={
              <button
                type="button"
                className={cx(buttonClass({ variant: 'primary' }), 'max-sm:w-9 max-sm:px-0')}
              >
                <Plus aria-hidden />
                <span className="max-sm:sr-only">Create</span>
              </button>
            }
          />
          <CurrencySwitch className="max-lg:hidden" />
          <BalanceWidget />
          <DeferredMenu
            menu={UserMenu}
            preload={() => void loadUserMenu()}
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
        </div>
      </div>
    </header>
  );
}

function SearchButton({ onClick }: { onClick: () => void }) {
  const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  return (
    <button
      type="button"
      onClick={onClick}
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
