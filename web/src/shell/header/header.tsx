import type { User } from '@bakehouse/contract/accounts';
import { Link, useLocation } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { lazy } from 'react';
import { useWindowWidth } from '../../lib/device/use-window-width.ts';
import { EmptyFallback, LazyPart } from '../../ui/boundary.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Logo } from '../../ui/logo.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import type { Palette } from '../palette/use-palette.ts';

/** Separate chunks: visitors don't need them, and menus would delay the page. */
const HeaderSearch = lazy(async () => ({
  default: (await import('../search/header-search.tsx')).HeaderSearch,
}));
const OwnHeader = lazy(async () => ({ default: (await import('./own-header.tsx')).OwnHeader }));

type Props = {
  /** Null for a visitor; undefined until the session is known. */
  user: User | null | undefined;
  menu: { open: () => void; isOpen: boolean; preload: () => void };
  palette: Palette;
};

/** The header of every page. User-specific parts appear once the session is known. */
export function Header({ user, menu, palette }: Props) {
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
          onClick={menu.open}
          onPointerEnter={menu.preload}
          onFocus={menu.preload}
          className="-ml-1 xl:hidden"
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
                <LazyPart fallback={EmptyFallback} pending={<Skeleton className="h-9 rounded-lg" />}>
                  {user ? (
                    <HeaderSearch onOpenPalette={palette.open} />
                  ) : (
                    <Skeleton className="h-9 rounded-lg" />
                  )}
                </LazyPart>
              </div>
            )}
            <Button
              variant="ghost"
              size="icon"
              aria-label="Search"
              onClick={() => palette.open()}
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
            <LazyPart fallback={EmptyFallback} pending={<PendingOwn />}>
              <OwnHeader user={user} palette={palette} />
            </LazyPart>
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
      <Skeleton className="h-8 w-26 rounded-lg max-lg:hidden" />
      <Skeleton className="h-9 w-24 rounded-lg" />
      <Skeleton className="size-9 shrink-0 rounded-lg" />
      <Skeleton className="size-9 shrink-0 rounded-full" />
    </>
  );
}
