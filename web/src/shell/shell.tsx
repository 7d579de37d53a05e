import type { User } from '@bakehouse/contract/accounts';
import { useLocation } from '@tanstack/react-router';
import { lazy, type ReactNode, useState } from 'react';
import { cx } from '../lib/cx.ts';
import { useWindowWidth } from '../lib/device/use-window-width.ts';
import { useSheets } from '../lib/sheet.ts';
import { UserContext } from '../modules/accounts/session.ts';
import { EmptyFallback, LazyPart } from '../ui/boundary.tsx';
import { Header } from './header/header.tsx';
import { hidesSidebar } from './navigation/nav-items.ts';
import { Sidebar } from './navigation/sidebar.tsx';
import { usePalette } from './palette/use-palette.ts';
import { OfflineBanner } from './states/offline-banner.tsx';
import { useSessionMessages } from './use-session-messages.ts';
import { useShortcuts } from './use-shortcuts.ts';
import { useTitleFocus } from './use-title-focus.ts';

const loadMenu = () => import('./navigation/mobile-menu.tsx');
const MobileMenu = lazy(async () => ({ default: (await loadMenu()).MobileMenu }));
const Rail = lazy(async () => ({ default: (await import('./navigation/rail.tsx')).Rail }));
const SignedIn = lazy(async () => ({ default: (await import('./signed-in.tsx')).SignedIn }));

type Props = {
  /** Null for a visitor; undefined until the session is known. */
  user: User | null | undefined;
  /** The page highlighted in the menu, if it isn't the current one. */
  page?: string;
  children: ReactNode;
};

/**
 * Layout around a page: header, sidebar, banners and side sheets. User-specific parts appear once the session
 * is known.
 */
export function Shell({ user, page, children }: Props) {
  const { pathname } = useLocation();
  /** Null until the menu is first opened; it stays mounted for the closing animation. */
  const [isMenuOpen, setMenuOpen] = useState<boolean | null>(null);
  const isVisitor = user === null;
  const palette = usePalette(isVisitor);
  const hasRoom = useWindowWidth('xl');
  useSessionMessages();
  const sheets = useSheets();
  const onHelp = () => sheets.open('shortcuts');
  // Visitors have neither, so leave the keys to the browser.
  useShortcuts({ onPalette: () => palette.open(), onHelp, areOff: isVisitor });
  useTitleFocus();

  return (
    <UserContext value={user ?? null}>
      <a
        href="#main"
        className="fixed top-2 left-2 z-60 -translate-y-16 rounded-lg bg-ink px-3 py-2 font-medium text-canvas focus:translate-y-0"
      >
        Skip to main content
      </a>
      <Header
        user={user}
        menu={{ isOpen: isMenuOpen === true, open: () => setMenuOpen(true), preload: preloadMenu }}
        palette={palette}
      />
      <div className="flex">
        {hasRoom && <Aside user={user} page={page} isRail={hidesSidebar(pathname)} />}
        <div className="flex min-h-[calc(100dvh-3.5rem)] min-w-0 flex-1 flex-col has-[.full-page]:h-[calc(100dvh-3.5rem)]">
          <main
            id="main"
            tabIndex={-1}
            // Pages with the class `full-page` fill the window and scroll inside.
            className="mx-auto w-full max-w-6xl flex-1 px-4 pt-6 pb-16 outline-none has-[.full-page]:flex has-[.full-page]:min-h-0 has-[.full-page]:max-w-none has-[.full-page]:p-0! sm:px-8 sm:pt-8"
          >
            {children}
          </main>
          {/* At the bottom of the window, so that showing it doesn't shift the page. */}
          <div className="sticky bottom-0 z-20">
            <OfflineBanner />
          </div>
        </div>
      </div>
      {user && (
        <LazyPart fallback={EmptyFallback}>
          <SignedIn userId={user.id} />
        </LazyPart>
      )}
      {isMenuOpen !== null && (
        <LazyPart fallback={EmptyFallback}>
          <MobileMenu
            user={user}
            page={page}
            open={isMenuOpen}
            onClose={() => setMenuOpen(false)}
            onOpenPalette={palette.open}
          />
        </LazyPart>
      )}
    </UserContext>
  );
}

type AsideProps = Pick<Props, 'user'> & { page: string | undefined; isRail: boolean };

/** The navigation next to the page. */
function Aside({ user, page, isRail }: AsideProps) {
  return (
    <aside
      className={cx(
        'sticky top-14 h-[calc(100dvh-3.5rem)] shrink-0 overflow-y-auto border-line border-r py-5',
        isRail ? 'w-14 px-2' : 'w-60 px-3',
      )}
    >
      {isRail ? (
        <LazyPart fallback={EmptyFallback}>
          <Rail user={user} page={page} />
        </LazyPart>
      ) : (
        <Sidebar user={user} page={page} />
      )}
    </aside>
  );
}

/** Errors are ignored, because opening the menu loads it again. */
function preloadMenu(): void {
  loadMenu().catch(() => undefined);
}
