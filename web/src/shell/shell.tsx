import type { User } from '@bakehouse/contract/accounts';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { useWindowWidth } from '../lib/device/use-window-width.ts';
import { loadLocaleData } from '../lib/format/load-locale-data.ts';
import { loadable } from '../lib/loadable.tsx';
import { useSheets } from '../lib/sheet.ts';
import { preloadLater } from '../lib/when-idle.ts';
import { UserContext } from '../modules/accounts/session.ts';
import { Boundary, EmptyFallback } from '../ui/boundary.tsx';
import { useOpenWhenLoaded } from '../ui/use-open-when-loaded.ts';
import { sheetPreloads } from './all-sheets.ts';
import { Header } from './header/header.tsx';
import { IdleMount } from './idle-mount.tsx';
import { hidesSidebar } from './navigation/nav-items.ts';
import { Sidebar } from './navigation/sidebar.tsx';
import { DeferredPalette, preloadPalette, usePalette } from './palette/deferred-palette.tsx';
import { OfflineBanner } from './states/offline-banner.tsx';
import { useSessionMessages } from './use-session-messages.ts';
import { useShortcuts } from './use-shortcuts.ts';
import { useTitleFocus } from './use-title-focus.ts';

const PendingReferral = loadable(
  async () => (await import('../modules/referrals/pending-referral.tsx')).PendingReferral,
);
const Changes = loadable(async () => (await import('./changes.tsx')).Changes);
const OpenSheets = loadable(async () => (await import('./open-sheets.tsx')).OpenSheets);
const MobileMenu = loadable(async () => (await import('./navigation/mobile-menu.tsx')).MobileMenu);

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
  const menu = useMenu();
  const isVisitor = user === null;
  const palette = usePalette(isVisitor);
  const hasRoom = useWindowWidth('xl');
  const sidebarHidden = hidesSidebar(pathname);
  useSessionMessages();
  const sheets = useSheets();
  const onHelp = () => sheets.open('shortcuts');
  // Visitors have neither, so leave the keys to the browser.
  useShortcuts({ onPalette: () => palette.open(), onHelp, areOff: isVisitor });
  useTitleFocus();
  useEffect(() => preloadLater(isVisitor ? [MobileMenu.preload] : preloads), [isVisitor]);

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
        menu={menu}
        onOpenPalette={palette.open}
        preloadMenu={() => void MobileMenu.preload()}
        preloadPalette={() => void preloadPalette()}
        menuAlways={sidebarHidden}
      />
      <div className="flex">
        {hasRoom && !sidebarHidden && (
          // The class is needed too: the prerendered frame contains the sidebar at every width.
          <aside className="sticky top-14 h-[calc(100dvh-3.5rem)] w-60 shrink-0 overflow-y-auto border-line border-r px-3 py-5 max-xl:hidden">
            <Sidebar user={user} page={page} />
          </aside>
        )}
        <div className="flex min-h-[calc(100dvh-3.5rem)] min-w-0 flex-1 flex-col">
          <main
            id="main"
            tabIndex={-1}
            className="mx-auto w-full max-w-6xl flex-1 px-4 pt-6 pb-16 outline-none sm:px-8 sm:pt-8"
          >
            {children}
          </main>
          {/* At the bottom of the window, so that showing it doesn't shift the page. */}
          <div className="sticky bottom-0 z-20">
            <OfflineBanner />
          </div>
        </div>
      </div>
      {user && <SignedIn userId={user.id} />}
      <Boundary fallback={EmptyFallback}>
        {menu.wasOpened && (
          <MobileMenu
            user={user}
            page={page}
            open={menu.isOpen}
            onClose={menu.close}
            onOpenPalette={palette.open}
          />
        )}
      </Boundary>
      {user && palette.begun !== null && <DeferredPalette begun={palette.begun} onClose={palette.close} />}
    </UserContext>
  );
}

/** Background parts on every page for signed-in users. */
function SignedIn({ userId }: { userId: string }) {
  return (
    <>
      <IdleMount preload={Changes.preload}>
        <Changes userId={userId} />
      </IdleMount>
      <Boundary fallback={EmptyFallback}>
        <Suspense>
          <OpenSheets />
        </Suspense>
      </Boundary>
      <IdleMount preload={PendingReferral.preload}>
        <PendingReferral key={userId} userId={userId} />
      </IdleMount>
    </>
  );
}

/** State of the slide-in menu, which stays mounted once opened, for the closing animation. */
function useMenu() {
  const [isOpen, setOpen] = useState<boolean | null>(null);
  const { open, waitingFor } = useOpenWhenLoaded();
  return {
    open: () => open(MobileMenu, () => setOpen(true)),
    close: () => setOpen(false),
    wasOpened: isOpen !== null,
    isOpen: isOpen === true,
    isWaiting: waitingFor !== null,
  };
}

/** Preloaded so that it opens instantly, even if the server is unreachable later. */
const preloads = [loadLocaleData, MobileMenu.preload, preloadPalette, ...sheetPreloads];
