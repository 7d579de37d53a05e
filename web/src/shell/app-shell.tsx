import type { User } from '@bakehouse/contract/accounts';
import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react';
import { getCredentials, setCredentials } from '../lib/credentials.ts';
import { followChanges } from '../lib/event-stream.ts';
import { loadable } from '../lib/loadable.tsx';
import { queryClient } from '../lib/query-client.ts';
import { onSessionMessage, type SessionMessage } from '../lib/session-channel.ts';
import { whenIdle } from '../lib/when-idle.ts';
import { refreshSession, sessionQuery, UserContext } from '../modules/accounts/api.ts';
import { PreparationBanner } from '../modules/machine/preparation-banner.tsx';
import { Boundary, NothingForNow } from '../ui/boundary.tsx';
import { ErrorState } from '../ui/error-state.tsx';
import { CreateSheets, preloadSheets } from './create-sheets.tsx';
import { Header, preloadMenus } from './header.tsx';
import { OfflineBanner } from './offline-banner.tsx';
import { PagePending } from './page-pending.tsx';
import { Sidebar } from './sidebar.tsx';
import { useShortcuts } from './use-shortcuts.ts';
import { useTitleFocus } from './use-title-focus.ts';

const CommandPalette = loadable(async () => (await import('./command-palette.tsx')).CommandPalette);
const MobileMenu = loadable(async () => (await import('./mobile-menu.tsx')).MobileMenu);

/** Around every page that needs a session. It is painted before the session is known, and fills in. */
export function AppShell() {
  const session = useQuery(sessionQuery);
  useSessionMessages();
  useLeaveWithoutSession(session.data);
  const user = session.data ?? null;
  return (
    <UserContext value={user}>
      <Shell user={user}>
        {user && <Outlet />}
        {!user && !session.isError && <PagePending />}
        {!user && session.isError && (
          <ErrorState
            title="Your session could not be read"
            error={session.error}
            onRetry={() => void session.refetch()}
            wholePage
          />
        )}
      </Shell>
    </UserContext>
  );
}

/** Header, sidebar, banners and side sheets around the page. */
function Shell({ user, children }: { user: User | null; children: ReactNode }) {
  const { pathname } = useLocation();
  const [menuOpen, setMenuOpen] = useState(false);
  const [paletteOpen, setPaletteOpen] = useState(false);
  const sidebarHidden = /\/(dataset|market|model)$/.test(pathname);
  useShortcuts({ onPalette: () => setPaletteOpen(true) });
  useTitleFocus();
  useEffect(() => {
    // At once: a menu is wanted most when nothing can be fetched any more.
    preloadMenus();
    return whenIdle(preloadOverlays);
  }, []);

  return (
    <>
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
      {user && <CreateSheets />}
      <Boundary fallback={NothingForNow}>
        <Suspense>
          {menuOpen && <MobileMenu user={user} onClose={() => setMenuOpen(false)} />}
          {paletteOpen && user && <CommandPalette onClose={() => setPaletteOpen(false)} />}
        </Suspense>
      </Boundary>
    </>
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

/** To the landing page when it turns out that nobody is signed in; it remembers where the person wanted to go. */
function useLeaveWithoutSession(user: User | null | undefined): void {
  const navigate = useNavigate();
  const next = useLocation({ select: ({ href }) => href });
  const wasSignedIn = useRef(false);
  const leave = useEffectEvent(() => void navigate({ to: '/', replace: true, state: { next } }));
  useEffect(() => {
    // Who signs out is seen off by the message of it.
    if (user) wasSignedIn.current = true;
    else if (user === null && !wasSignedIn.current) leave();
  }, [user]);
}

/** Follows what this tab and others learn about the session: a refused key, a new one, a sign-out. */
function useSessionMessages(): void {
  const navigate = useNavigate();

  const leave = useEffectEvent(async () => {
    setCredentials(null);
    queryClient.setQueryData(sessionQuery.queryKey, null);
    await navigate({ to: '/', replace: true });
    queryClient.removeQueries({ predicate: (query) => query.queryKey[0] !== 'session' });
  });

  const follow = useEffectEvent(async ({ type, userId }: SessionMessage) => {
    const isMine = userId === getCredentials()?.userId;
    if (type === 'signed-out') return leave();
    if (type === 'signed-in' ? isMine : !isMine) return;
    const user = await refreshSession().catch(() => undefined);
    if (user === null) await leave();
  });

  useEffect(() => onSessionMessage((message) => void follow(message)), []);
}
