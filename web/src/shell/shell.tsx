import type { User } from '@bakehouse/contract/accounts';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { followChanges } from '../lib/event-stream.ts';
import { loadable } from '../lib/loadable.tsx';
import { whenIdle } from '../lib/when-idle.ts';
import { UserContext } from '../modules/accounts/api.ts';
import { PreparationBanner } from '../modules/machine/preparation-banner.tsx';
import { Boundary, NothingForNow } from '../ui/boundary.tsx';
import { Header, preloadMenus } from './header.tsx';
import { OfflineBanner } from './offline-banner.tsx';
import { OpenSheets, preloadSheets } from './open-sheets.tsx';
import { Sidebar } from './sidebar.tsx';
import { useSessionMessages } from './use-session-messages.ts';
import { useShortcuts } from './use-shortcuts.ts';
import { useTitleFocus } from './use-title-focus.ts';

const CommandPalette = loadable(async () => (await import('./command-palette.tsx')).CommandPalette);
const MobileMenu = loadable(async () => (await import('./mobile-menu.tsx')).MobileMenu);

type Props = {
  /** Null for a visitor; undefined while nobody knows. */
  user: User | null | undefined;
  children: ReactNode;
};

/** Header, sidebar, banners and side sheets around a page. What is the user's own fills in when the session is known. */
export function Shell({ user, children }: Props) {
  const { pathname } = useLocation();
  const [menuOpen, setMenuOpen] = useState(false);
  const [paletteOpen, setPaletteOpen] = useState(false);
  const sidebarHidden = /\/(dataset|market|model)$/.test(pathname);
  useSessionMessages();
  useShortcuts({ onPalette: () => setPaletteOpen(true) });
  useTitleFocus();
  useEffect(() => {
    // At once: a menu is wanted most when nothing can be fetched any more.
    preloadMenus();
    return whenIdle(preloadOverlays);
  }, []);

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
        onOpenMenu={() => setMenuOpen(true)}
        onOpenPalette={() => setPaletteOpen(true)}
        preloadMenu={() => void MobileMenu.preload()}
        preloadPalette={() => void CommandPalette.preload()}
        menuAlways={sidebarHidden}
      />
      <div className="flex">
        {!sidebarHidden && (
          <aside className="sticky top-14 h-[calc(100dvh-3.5rem)] w-60 shrink-0 overflow-y-auto border-line border-r px-3 py-5 max-xl:hidden">
            <Sidebar user={user} />
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
          {/* At the bottom of the window: they come and go while somebody reads, and move nothing. */}
          <div className="sticky bottom-0 z-20">
            <OfflineBanner />
            {user && <PreparationBanner />}
          </div>
        </div>
      </div>
      {user && <Changes userId={user.id} />}
      {user && <OpenSheets />}
      <Boundary fallback={NothingForNow}>
        <Suspense>
          {menuOpen && <MobileMenu user={user} onClose={() => setMenuOpen(false)} />}
          {paletteOpen && user && <CommandPalette onClose={() => setPaletteOpen(false)} />}
        </Suspense>
      </Boundary>
    </UserContext>
  );
}

/** What a click opens over the page is there before the first click. */
function preloadOverlays(): void {
  preloadSheets();
  void CommandPalette.preload();
  void MobileMenu.preload();
}

/** Keeps what is shown true while the same person is signed in. */
function Changes({ userId }: { userId: string }) {
  useEffect(() => {
    const ended = new AbortController();
    void followChanges(userId, ended.signal);
    return () => ended.abort();
  }, [userId]);
  return null;
}
