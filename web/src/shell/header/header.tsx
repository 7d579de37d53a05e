import type { User } from '@bakehouse/contract/accounts';
import { Link, useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { Suspense } from 'react';
import { cx } from '../../lib/cx.ts';
import { useWindowWidth } from '../../lib/device/use-window-width.ts';
import { loadable } from '../../lib/loadable.tsx';
import { Boundary, EmptyFallback } from '../../ui/boundary.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Logo } from '../../ui/logo.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

/** Separate chunks: visitors don't need them. */
const HeaderSearch = loadable(async () => (await import('../search/header-search.tsx')).HeaderSearch);
const Own = loadable(async () => (await import('./own-header.tsx')).Own);

type Props = {
  /** Null for a visitor; undefined until the session is known. */
  user: User | null | undefined;
  menu: { open: () => void; isOpen: boolean; isWaiting: boolean };
  /** Opens the palette with the text typed in the search box. */
  onOpenPalette: (typed?: string) => void;
  /** Called on hover and focus of the button. */
  preloadMenu: () => void;
  preloadPalette: () => void;
  /** The page has no sidebar, so the menu button is shown at every width. */
  menuAlways: boolean;
};

/** The header of every page. User-specific parts appear once the session is known. */
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
                <Boundary fallback={EmptyFallback}>
                  <Suspense fallback={<Skeleton className="h-9 rounded-lg" />}>
                    <HeaderSearch signedIn={user !== undefined} onOpenPalette={onOpenPalette} />
                  </Suspense>
                </Boundary>
              </div>
            )}
            <Button
              variant="ghost"
              size="icon"
              aria-label="Search"
              onClick={() => onOpenPalette()}
              onPointerEnter={preloadPalette}
              onFocus={preloadPalette}
              // On narrower screens, search is in the menu.
              className="max-[23.75rem]:hidden md:hidden"
            >
              <Search aria-hidden />
            </Button>
          </>
        )}
        <div className="ml-auto flex items-center gap-0.5 sm:gap-2.5">
          {user === null ? (
            <SignInOptions />
          ) : (
            <Boundary fallback={EmptyFallback}>
              <Suspense fallback={<PendingOwn />}>
                <Own user={user} />
              </Suspense>
            </Boundary>
          )}
        </div>
      </div>
    </header>
  );
}

/** Links to sign in or sign up, then return to this page. */
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

/** Placeholder with the size of the user-specific parts. */
function PendingOwn() {
  return (
    <>
      <Skeleton className="h-9 w-9 rounded-lg min-[26rem]:w-14 sm:w-24" />
      <Skeleton className="h-8 w-[6.5rem] rounded-lg max-lg:hidden" />
      <Skeleton className="h-9 w-24 rounded-lg" />
      <Skeleton className="size-9 shrink-0 rounded-lg" />
      <Skeleton className="size-9 shrink-0 rounded-full" />
    </>
  );
}
